import type { EngineStatus, LadderStep } from '../contract/index.ts';
import { en } from './en.ts';
import { isAnswering, stateLine } from './state-line.ts';

export type TrayState = {
  readonly status: EngineStatus | null;
  /** Step of the sleep ladder; null before it is known. */
  readonly step: LadderStep | null;
  readonly windowVisible: boolean;
  /** null while nothing listens. */
  readonly serverUrl: string | null;
  /** `builtin` or a path; null before the first. */
  readonly lastModel: string | null;
};

export type TrayAction = 'show' | 'hide' | 'new-chat' | 'monitor' | 'copy-address' | 'unload' | 'wake' | 'quit';

/** An entry without `action` is only to read. */
export type TrayEntry =
  | { readonly kind: 'separator' }
  | { readonly kind: 'entry'; readonly label: string; readonly action: TrayAction | null };

export type TrayLook = {
  readonly icon: 'asleep' | 'awake';
  readonly toolTip: string;
  readonly entries: readonly TrayEntry[];
};

/** All that the tray shows, from the state alone. */
export function trayLook({ status, step, windowVisible, serverUrl, lastModel }: TrayState): TrayLook {
  const line = stateLine(status, step);
  const model = status?.model?.name ?? null;
  return {
    icon: isAtRest(status) ? 'asleep' : 'awake',
    toolTip: `${en.appName}: ${line}`,
    entries: [
      text(line),
      ...(model === null ? [] : [text(model)]),
      separator,
      windowVisible ? entry(en.tray.hide, 'hide') : entry(en.tray.show, 'show'),
      entry(en.tray.newChat, 'new-chat'),
      entry(en.tray.monitor, 'monitor'),
      separator,
      text(serverUrl === null ? en.tray.noServer : en.tray.server(serverUrl)),
      ...(serverUrl === null ? [] : [entry(en.tray.copyAddress, 'copy-address')]),
      separator,
      ...modelEntries(status, lastModel),
      entry(en.tray.quit, 'quit'),
    ],
  };
}

/** Unload where there is something to unload, wake where there is not. */
function modelEntries(status: EngineStatus | null, lastModel: string | null): readonly TrayEntry[] {
  switch (status?.state) {
    case 'ready':
      return isAnswering(status) ? [] : [entry(en.tray.unload, 'unload'), separator];
    case 'empty':
    case 'failed':
      return lastModel === null ? [] : [entry(en.tray.wake, 'wake'), separator];
    case 'loading':
    case 'prefill':
    case 'generating':
    case 'unloading':
    case undefined:
      return [];
  }
}

function isAtRest(status: EngineStatus | null): boolean {
  return status === null || status.state === 'empty' || status.state === 'failed' || status.state === 'ready';
}

const separator: TrayEntry = { kind: 'separator' };

function text(label: string): TrayEntry {
  return { kind: 'entry', label, action: null };
}

function entry(label: string, action: TrayAction): TrayEntry {
  return { kind: 'entry', label, action };
}
