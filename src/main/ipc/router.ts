import { Emitter, type Logger } from '../base/index.ts';
import {
  fail,
  isRequestName,
  requests,
  type AppEvent,
  type AppInfo,
  type Dispatcher,
  type RequestName,
  type Result,
} from '../contract/index.ts';
import type {
  ChatEvent,
  ChatService,
  ExchangeLog,
  LadderService,
  ModelService,
  RemotesService,
  ServerControlService,
  SettingsService,
  TelemetryService,
} from '../services/index.ts';
import { createHandlers, type Handlers } from './handlers.ts';
import { StreamHub } from './stream-hub.ts';

export type RouterDependencies = {
  readonly chat: ChatService;
  readonly models: ModelService;
  readonly settings: SettingsService;
  readonly telemetry: TelemetryService;
  readonly ladder: LadderService;
  readonly control: ServerControlService;
  readonly exchanges: ExchangeLog;
  readonly remotes: RemotesService;
  readonly appInfo: () => AppInfo;
  /** Subscribes to what a person should know although nobody asked. */
  readonly onNotice: (listener: (text: string) => void) => () => void;
  readonly logger: Logger;
};

/** Main's side of the contract. A transport checks who asks, then calls `dispatch`. */
export class Router implements Dispatcher {
  readonly #handlers: Handlers;
  readonly #events: Emitter<AppEvent>;
  readonly #streams: StreamHub;
  readonly #ladder: LadderService;
  readonly #logger: Logger;
  readonly #unsubscribe: readonly (() => void)[];

  constructor(deps: RouterDependencies) {
    const { chat, models, settings, telemetry, ladder, control, exchanges, remotes, onNotice, logger } = deps;
    this.#logger = logger;
    this.#ladder = ladder;
    this.#events = new Emitter((error) => logger.error('event listener failed', { error: String(error) }));
    this.#streams = new StreamHub((event) => this.#events.emit(event));
    const pages = () => this.#events.size;
    this.#handlers = createHandlers({ ...deps, pages, streams: this.#streams });
    this.#unsubscribe = [
      chat.on((event) => this.#forward(event)),
      onNotice((text) => this.#events.emit({ type: 'notice', text })),
      settings.on((value) => this.#events.emit({ type: 'settings.changed', settings: value })),
      telemetry.on((event) => this.#events.emit(event)),
      control.on((status) => this.#events.emit({ type: 'server.changed', status })),
      exchanges.on((event) => this.#events.emit(event)),
      remotes.on((all) => this.#events.emit({ type: 'remotes.changed', remotes: all })),
      ladder.on((status) => this.#events.emit({ type: 'ladder.changed', ladder: status })),
      models.onStatus((status) => this.#events.emit({ type: 'engine.status', status })),
    ];
  }

  async dispatch(name: string, input: unknown): Promise<Result<unknown>> {
    if (!isRequestName(name)) return fail('unknown_request', `There is no request "${name.slice(0, 100)}".`);
    const parsed = requests[name].input.safeParse(input);
    if (!parsed.success) {
      const problem = parsed.error.issues[0];
      const where = problem?.path.join('.') ?? '';
      return fail('invalid_input', `${name}: ${where === '' ? '' : `${where}: `}${problem?.message ?? 'not valid'}`);
    }
    try {
      return await this.#call(name, parsed.data);
    } catch (error) {
      this.#logger.error('handler failed', {
        request: name,
        error: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
      return fail('internal', 'Something broke inside Dormouse; the log has the details.', 'Try again.');
    }
  }

  subscribe(listener: (event: AppEvent) => void): () => void {
    const off = this.#events.on(listener);
    this.#tellPages();
    return () => {
      off();
      this.#tellPages();
    };
  }

  /**
   * A hidden page ends its subscription, so that these are the pages that are seen. Not at once: what the ladder then
   * tells would reach the new listener before `subscribe` has returned to it.
   */
  #tellPages(): void {
    queueMicrotask(() => this.#ladder.pagesSeen(this.#events.size));
  }

  close(): void {
    for (const end of this.#unsubscribe) end();
    this.#streams.close();
  }

  /** `input` was parsed with the schema of `name`, which is what the handler of that name takes. */
  #call(name: RequestName, input: unknown): Promise<Result<unknown>> | Result<unknown> {
    const handler = this.#handlers[name] as (input: unknown) => Promise<Result<unknown>> | Result<unknown>;
    return handler(input);
  }

  #forward(event: ChatEvent): void {
    switch (event.type) {
      case 'stream.part':
        return this.#streams.push(event.streamId, event.part);
      case 'stream.end':
        return this.#streams.end(event.streamId, event.message);
      case 'message.added':
        if (event.message.streamId !== null) this.#streams.open(event.message.streamId);
        return this.#events.emit(event);
      case 'conversation.changed':
      case 'conversation.removed':
      case 'conversation.configured':
      case 'notice':
      case 'leaf.changed':
        return this.#events.emit(event);
    }
  }
}
