import type { EngineStatus, LadderStep } from '../contract/index.ts';
import { en } from './en.ts';

/** The engine's state in a few words, for the tray. `step`: of the sleep ladder, null before it is known. */
export function stateLine(status: EngineStatus | null, step: LadderStep | null): string {
  if (status === null) return en.state.unknown;
  switch (status.state) {
    case 'empty':
      return step === 'hibernated' ? en.state.hibernated : en.state.empty;
    case 'loading':
      if (step === 'waking') return en.state.waking;
      return en.state.loading(status.loadProgress === null ? null : Math.round(status.loadProgress * 100));
    case 'ready':
      return restLine(status.sleep);
    case 'prefill':
      return en.state.prefill;
    case 'generating':
      return en.state.generating(status.tokensPerSecond === null ? null : Math.round(status.tokensPerSecond));
    case 'unloading':
      return en.state.unloading;
    case 'failed':
      return en.state.failed;
  }
}

/** Without a pool nobody knows what the threads do, so nothing is said of sleep. */
function restLine(sleep: EngineStatus['sleep']): string {
  if (sleep === null) return en.state.ready;
  if (sleep.step !== 'asleep') return en.state.fallingAsleep;
  return sleep.cores === null ? en.state.asleep : en.state.asleepAt(sleep.cores.toFixed(2));
}

/** Whether an answer is being computed, for a chat or for a program. */
export function isAnswering(status: EngineStatus | null): boolean {
  return status !== null && (status.state === 'prefill' || status.state === 'generating' || status.waiting > 0);
}
