import {
  ok,
  type AppInfo,
  type RequestName,
  type RequestOutput,
  type RequestParsed,
  type Result,
} from '../contract/index.ts';
import type { ChatService, ModelService } from '../services/index.ts';
import type { StreamHub } from './stream-hub.ts';

export type HandlerDependencies = {
  readonly chat: ChatService;
  readonly models: ModelService;
  readonly streams: StreamHub;
  readonly appInfo: () => AppInfo;
};

/** One handler for every request of the contract; the compiler counts them. */
export type Handlers = {
  readonly [N in RequestName]: (
    input: RequestParsed<N>,
  ) => Promise<Result<RequestOutput<N>>> | Result<RequestOutput<N>>;
};

export function createHandlers({ chat, models, streams, appInfo }: HandlerDependencies): Handlers {
  return {
    'app.info': () => ok(appInfo()),
    'engine.status': () => ok(models.status()),
    'engine.load': ({ model }) => models.load(model),
    'engine.cancelLoad': () => ok({ cancelled: models.cancelLoad() }),
    'engine.unload': async () => {
      const result = await models.unload();
      return result.ok ? ok({}) : result;
    },
    'conversation.list': () => ok({ conversations: [...chat.list()] }),
    'conversation.get': ({ conversationId }) => chat.get(conversationId),
    'conversation.select': ({ conversationId, messageId }) => chat.select(conversationId, messageId),
    'chat.send': (input) => chat.send(input),
    'chat.regenerate': ({ conversationId, messageId }) => chat.regenerate(conversationId, messageId),
    'chat.stop': ({ streamId }) => ok({ stopped: chat.stop(streamId) }),
    'stream.attach': ({ streamId }) => streams.snapshot(streamId),
  };
}
