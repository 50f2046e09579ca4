import { Emitter, Paced, systemClock, type Clock, type Logger } from '../base/index.ts';
import {
  fail,
  isRequestName,
  requests,
  type AppEvent,
  type AppInfo,
  type Dispatcher,
  type EngineState,
  type EngineStatus,
  type LadderStatus,
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
  readonly clock?: Clock;
};

/** A program may ask for many short answers a second; nobody reads that many figures, and each is drawn. */
const statusEveryMs = 250;
/** What such answers go through. Every other state and step is told at once. */
const answering: ReadonlySet<EngineState> = new Set(['ready', 'prefill', 'generating']);
const working: ReadonlySet<LadderStatus['step']> = new Set(['computing', 'spinning', 'asleep']);

/** Main's side of the contract. A transport checks who asks, then calls `dispatch`. */
export class Router implements Dispatcher {
  readonly #handlers: Handlers;
  readonly #events: Emitter<AppEvent>;
  readonly #audience = new Set<{ readonly isSeen: () => boolean }>();
  readonly #streams: StreamHub;
  readonly #status: Paced<EngineStatus>;
  readonly #steps: Paced<LadderStatus>;
  readonly #ladder: LadderService;
  readonly #logger: Logger;
  readonly #unsubscribe: readonly (() => void)[];

  constructor(deps: RouterDependencies) {
    const { chat, models, settings, telemetry, ladder, control, exchanges, remotes, onNotice, logger } = deps;
    const { clock = systemClock } = deps;
    this.#logger = logger;
    this.#ladder = ladder;
    this.#events = new Emitter((error) => logger.error('event listener failed', { error: String(error) }));
    this.#streams = new StreamHub((event) => this.#events.emit(event));
    this.#status = new Paced(statusEveryMs, clock, (status) => this.#events.emit({ type: 'engine.status', status }));
    this.#steps = new Paced(statusEveryMs, clock, (step) =>
      this.#events.emit({ type: 'ladder.changed', ladder: step }),
    );
    const pages = () => this.#pagesSeen;
    this.#handlers = createHandlers({ ...deps, pages, streams: this.#streams });
    this.#unsubscribe = [
      chat.on((event) => this.#forward(event)),
      onNotice((text) => this.#events.emit({ type: 'notice', text })),
      settings.on((value) => this.#events.emit({ type: 'settings.changed', settings: value })),
      telemetry.on((event) => this.#events.emit(event)),
      control.on((status) => this.#events.emit({ type: 'server.changed', status })),
      exchanges.on((event) => this.#events.emit(event)),
      remotes.on((all) => this.#events.emit({ type: 'remotes.changed', remotes: all })),
      this.#followLadder(ladder),
      this.#followStatus(models),
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

  subscribe(listener: (event: AppEvent) => void, isSeen: () => boolean = () => true): () => void {
    const off = this.#events.on(listener);
    const audience = { isSeen };
    this.#audience.add(audience);
    this.seenChanged();
    return () => {
      off();
      this.#audience.delete(audience);
      this.seenChanged();
    };
  }

  /** Not at once: what the ladder then tells would reach a new listener before `subscribe` has returned to it. */
  seenChanged(): void {
    queueMicrotask(() => this.#ladder.pagesSeen(this.#pagesSeen));
  }

  /** A hidden tab ends its subscription, a hidden window keeps it. */
  get #pagesSeen(): number {
    return [...this.#audience].filter(({ isSeen }) => isSeen()).length;
  }

  close(): void {
    for (const end of this.#unsubscribe) end();
    this.#status.close();
    this.#steps.close();
    this.#streams.close();
  }

  #followLadder(ladder: LadderService): () => void {
    let before = ladder.status().step;
    return ladder.on((status) => {
      const calm = working.has(before) && working.has(status.step);
      before = status.step;
      this.#steps.push(status, !calm);
    });
  }

  #followStatus(models: ModelService): () => void {
    let before = models.status();
    return models.onStatus((status) => {
      const calm = answering.has(before.state) && answering.has(status.state) && before.model === status.model;
      before = status;
      this.#status.push(status, !calm || status.error !== null);
    });
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
