import type { Dispatcher, EngineStatus } from '../contract/index.ts';
import type { ElectronModules } from './electron-faces.ts';
import { en } from './en.ts';

export type SuspendWatchDependencies = {
  readonly electron: Pick<ElectronModules, 'powerMonitor'>;
  readonly dispatcher: Dispatcher;
  /** Ends every answer that is being written. @returns how many there were. */
  readonly stopAnswers: () => number;
  readonly notify: (text: string) => void;
};

/**
 * The computer goes to sleep and wakes up. Answers are stopped before, what there is of them is kept: a GPU that lost
 * its memory would fail them in the middle. Afterwards it says plainly what is gone.
 */
export function watchSuspend({ electron, dispatcher, stopAnswers, notify }: SuspendWatchDependencies): void {
  let stopped = false;
  electron.powerMonitor.on('suspend', () => {
    if (stopAnswers() > 0) stopped = true;
  });
  electron.powerMonitor.on('resume', () => {
    if (stopped) notify(en.stoppedForSuspend);
    stopped = false;
    void tellFailure(dispatcher, notify);
  });
}

async function tellFailure(dispatcher: Dispatcher, notify: (text: string) => void): Promise<void> {
  const reply = await dispatcher.dispatch('engine.status', {});
  if (!reply.ok) return notify(en.failedAfterResume(reply.error.message));
  const { state, error } = reply.data as EngineStatus;
  if (state === 'failed') notify(en.failedAfterResume(error?.message ?? ''));
}
