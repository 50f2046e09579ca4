import { randomBytes, randomUUID } from 'node:crypto';
import { ownAddresses, placeOf, systemClock } from './base/index.ts';
import type { AppInfo, FlagName, FlagValues } from './contract/index.ts';
import type { Store } from './open-store.ts';
import { RemoteClient } from './remote/index.ts';
import { Remotes, RequestLog, ServerControl, type ControlledServer } from './services/index.ts';

export type ServerServicesOptions = {
  readonly flags: FlagValues;
  readonly given: ReadonlySet<FlagName>;
  readonly shell: AppInfo['shell'];
};

/** What of the store they need. */
export type ServerStore = Pick<Store, 'settings' | 'secrets' | 'remotes'> & {
  readonly log: Pick<Store['log'], 'logger'>;
};

/**
 * The services around the server: its control, its log, and remote engines. The server itself needs what answers the
 * pages, which needs these: so it comes in afterwards, by `serve`, before anything begins.
 */
export function serverServices(options: ServerServicesOptions, store: ServerStore) {
  const { settings, secrets, log } = store;
  let server: ControlledServer | null = null;
  const built = (): ControlledServer => {
    if (server === null) throw new Error('the server is asked for before it is built');
    return server;
  };
  const control: ServerControl = new ServerControl({
    ...options,
    server: {
      open: (host, port) => built().open(host, port),
      close: () => built().close(),
      setAnswering: (answering) => built().setAnswering(answering),
      setApiKey: (key) => built().setApiKey(key),
    },
    settings,
    secrets,
    place: placeOf(process.env),
    ownAddresses,
    random: randomBytes,
    logger: log.logger,
  });
  const remotes = new Remotes({
    client: new RemoteClient({ now: () => performance.now() }),
    file: store.remotes,
    secrets,
    now: Date.now,
    createId: () => randomUUID().slice(0, 8),
    ownPort: () => (control.url() === null ? null : control.status().port),
  });
  return {
    control,
    remotes,
    exchanges: new RequestLog(systemClock),
    serve: (made: ControlledServer) => void (server = made),
  };
}
