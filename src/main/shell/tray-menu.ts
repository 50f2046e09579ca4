import type { EngineStatus, LadderStep } from '../contract/index.ts';
import { en } from './en.ts';
import { isAnswering, stateLine } from './state-line.ts';

/** `url`: for this computer; null while nothing listens. */
export type ServerState = { readonly on: boolean; readonly url: string | null };

export type TrayState = {
  readonly status: EngineStatus | null;
  /** Step of the sleep ladder; null before it is known. */
  readonly step: LadderStep | null;
  readonly windowVisible: boolean;
  readonly server: ServerState;
  /** `builtin` or a path; null before the first. */
  readonly lastModel: string | null;
};

export type TrayAction =
  | 'show'
  | 'hide'
  | 'new-chat'
  | 'monitor'
  | 'server'
  | 'server-on'
  | 'server-off'
  | 'copy-address'
  | 'unload'
  | 'wake'
  | 'quit';

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
export function trayLook({ status, step, windowVisible, server, lastModel }: TrayState): TrayLook {
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
      ...serverEntries(server),
      separator,
      ...modelEntries(status, lastModel),
      entry(en.tray.quit, 'quit'),
    ],
  };
}

function serverEntries({ on, url }: ServerState): readonly TrayEntry[] {
  if (!on || url === null) {
    return [text(en.tray.noServer), entry(en.tray.serverOn, 'server-on'), entry(en.tray.serverPage, 'server')];
  }
  return [
    text(en.tray.server(url)),
    entry(en.tray.copyAddress, 'copy-address'),
    entry(en.tray.serverOff, 'server-off'),
    entry(en.tray.serverPage, 'server'),
  ];
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
