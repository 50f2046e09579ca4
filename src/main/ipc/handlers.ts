import {
  ok,
  remotePrefix,
  type AppInfo,
  type RequestName,
  type RequestOutput,
  type RequestParsed,
  type Result,
} from '../contract/index.ts';
import type {
  ChatService,
  ExchangeLog,
  ModelService,
  RemotesService,
  ServerControlService,
  SettingsService,
  TelemetryService,
} from '../services/index.ts';
import type { StreamHub } from './stream-hub.ts';

export type HandlerDependencies = {
  readonly settings: SettingsService;
  readonly chat: ChatService;
  readonly models: ModelService;
  readonly telemetry: TelemetryService;
  readonly control: ServerControlService;
  readonly exchanges: ExchangeLog;
  readonly remotes: RemotesService;
  /** Pages that are seen now. */
  readonly pages: () => number;
  readonly streams: StreamHub;
  readonly appInfo: () => AppInfo;
};

/** One handler for every request of the contract; the compiler counts them. */
export type Handlers = {
  readonly [N in RequestName]: (
    input: RequestParsed<N>,
  ) => Promise<Result<RequestOutput<N>>> | Result<RequestOutput<N>>;
};

type ServerHandlers = Pick<Handlers, Extract<RequestName, `server.${string}` | `remotes.${string}`>>;

function serverHandlers({ control, exchanges, remotes, pages }: HandlerDependencies): ServerHandlers {
  return {
    'server.status': () => ok(control.status()),
    'server.start': () => control.start(),
    'server.stop': () => control.stop(),
    'server.configure': (changes) => control.configure(withoutUndefined(changes)),
    'server.key': () => ok({ key: control.apiKey() }),
    'server.setKey': ({ key }) => control.setApiKey(key),
    'server.generateKey': async () => {
      const result = await control.generateApiKey();
      return result.ok ? ok({ key: result.data }) : result;
    },
    'server.watchLog': () => ok(exchanges.watch()),
    'server.unwatchLog': () => {
      exchanges.unwatch(pages());
      return ok({});
    },
    'server.clearLog': () => {
      exchanges.clear();
      return ok({});
    },
    'remotes.list': () => ok({ remotes: [...remotes.list()] }),
    'remotes.add': (remote) => remotes.add(remote),
    'remotes.change': ({ id, ...changes }) => remotes.change(id, withoutUndefined(changes)),
    'remotes.test': ({ id }) => remotes.test(id),
    'remotes.remove': async ({ id }) => {
      const result = await remotes.remove(id);
      return result.ok ? ok({}) : result;
    },
  };
}

export function createHandlers(deps: HandlerDependencies): Handlers {
  const { chat, models, settings, telemetry, pages, streams, appInfo } = deps;
  return {
    'app.info': () => ok(appInfo()),
    'engine.status': () => ok(models.status()),
    'engine.load': ({ model }) => models.load(model),
    'engine.cancelLoad': () => ok({ cancelled: models.cancelLoad() }),
    'engine.unload': async () => {
      const result = await models.unload();
      return result.ok ? ok({}) : result;
    },
    'telemetry.watch': () => ok(telemetry.watch()),
    'telemetry.unwatch': () => {
      telemetry.unwatch(pages());
      return ok({});
    },
    'telemetry.spinDemo': () => telemetry.spinDemo(),
    'models.list': () =>
      ok({ models: models.known().map((model) => ({ ...model, remote: model.path.startsWith(remotePrefix) })) }),
    ...serverHandlers(deps),
    'settings.get': () => ok(settings.value),
    'settings.set': (changes) => settings.set(withoutUndefined(changes)),
    'conversation.list': () => ok({ conversations: [...chat.list()] }),
    'conversation.get': ({ conversationId }) => chat.get(conversationId),
    'conversation.select': ({ conversationId, messageId }) => chat.select(conversationId, messageId),
    'conversation.rename': ({ conversationId, title }) => chat.rename(conversationId, title),
    'conversation.delete': async ({ conversationId }) => {
      const result = await chat.remove(conversationId);
      return result.ok ? ok({}) : result;
    },
    'conversation.restore': ({ conversationId }) => chat.restore(conversationId),
    'conversation.configure': ({ conversationId, ...changes }) =>
      chat.configure(conversationId, withoutUndefined(changes)),
    'chat.send': ({ options, ...input }) => chat.send({ ...input, options: options && withoutUndefined(options) }),
    'chat.regenerate': ({ conversationId, messageId }) => chat.regenerate(conversationId, messageId),
    'chat.stop': ({ streamId }) => ok({ stopped: chat.stop(streamId) }),
    'stream.attach': ({ streamId }) => streams.snapshot(streamId),
  };
}

/** zod gives an absent field as undefined, which would overwrite what is there. */
function withoutUndefined<T extends object>(changes: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
