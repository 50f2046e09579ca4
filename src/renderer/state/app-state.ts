import { createStore, type StoreApi } from 'zustand/vanilla';
import type { AppEvent, AppInfo, Bridge, ConnectionState } from '../../main/contract/index.ts';
import { ChatActions } from './chat-actions.ts';
import { Conversations, type RememberedChat } from './conversations.ts';
import { Engine } from './engine.ts';
import { ListActions } from './list-actions.ts';
import { Notices } from './notices.ts';
import { SettingsStore, type RememberedSettings } from './settings.ts';
import { StreamHub } from './stream-hub.ts';

export interface ConnectionStoreState {
  readonly connection: ConnectionState;
  readonly info: AppInfo | null;
}

export interface AppStateOptions {
  readonly bridge: Bridge;
  /** Calls back before the next paint. */
  readonly schedule: (paint: () => void) => void;
  /** Unix time in ms. */
  readonly now: () => number;
  readonly remembered: RememberedChat;
  readonly rememberedSettings: RememberedSettings;
}

/** All that this page knows. Built once, before React. */
export class AppState {
  readonly connection: StoreApi<ConnectionStoreState> = createStore(() => ({ connection: 'connecting', info: null }));
  readonly engine: Engine;
  readonly conversations: Conversations;
  readonly chat: ChatActions;
  readonly list: ListActions;
  readonly settings: SettingsStore;
  readonly notices = new Notices();
  readonly streams: StreamHub;
  readonly #bridge: Bridge;

  constructor(options: AppStateOptions) {
    const { bridge, schedule, now, remembered, rememberedSettings } = options;
    const tell = (text: string) => this.notices.add(text);
    this.#bridge = bridge;
    this.settings = new SettingsStore(bridge, rememberedSettings, tell);
    this.engine = new Engine(bridge);
    this.streams = new StreamHub({ bridge, schedule, now, missed: (streamId) => this.#fetchConversationOf(streamId) });
    this.conversations = new Conversations({
      bridge,
      now,
      remembered,
      attach: (streamId) => this.streams.attach(streamId),
      ended: (streamId) => this.streams.forget(streamId),
    });
    this.chat = new ChatActions(bridge, this.conversations);
    this.list = new ListActions(bridge, this.conversations, tell);
  }

  /** Begins to listen. @returns a function that ends it. */
  start(): () => void {
    const endEvents = this.#bridge.on((event) => this.#apply(event));
    const endConnection = this.#bridge.onConnection((connection) => {
      this.connection.setState({ connection });
      if (connection === 'open') void this.#refresh();
    });
    return () => {
      endEvents();
      endConnection();
    };
  }

  async #refresh(): Promise<void> {
    await Promise.all([
      this.engine.refresh(),
      this.conversations.refreshAll(),
      this.settings.refresh(),
      this.#refreshInfo(),
    ]);
  }

  async #refreshInfo(): Promise<void> {
    const result = await this.#bridge.request('app.info', {});
    if (!result.ok) return;
    this.connection.setState({ info: result.data });
    this.notices.addOfStart(result.data.notices);
  }

  #apply(event: AppEvent): void {
    switch (event.type) {
      case 'engine.status':
        this.engine.apply(event.status);
        return;
      case 'conversation.changed':
        this.conversations.upsertSummary(event.conversation);
        return;
      case 'conversation.removed':
        this.conversations.remove(event.conversationId);
        return;
      case 'conversation.configured':
        this.conversations.configured(event.conversationId, event.options);
        return;
      case 'notice':
        this.notices.add(event.text);
        return;
      case 'navigate':
        this.conversations.open(null);
        return;
      case 'settings.changed':
        this.settings.apply(event.settings);
        return;
      case 'message.added':
        this.conversations.upsertMessage(event.message, event.leafId);
        return;
      case 'leaf.changed':
        this.conversations.setLeaf(event.conversationId, event.leafId);
        return;
      case 'stream.chunk':
        this.streams.apply(event);
        return;
      case 'stream.end': {
        const thoughtMs = this.streams.apply(event);
        const known = this.conversations.upsertMessage(event.message);
        if (known && thoughtMs !== null) this.conversations.noteThoughtMs(event.message.id, thoughtMs);
        return;
      }
    }
  }

  #fetchConversationOf(streamId: string): void {
    const conversationId = this.conversations.conversationOfStream(streamId);
    if (conversationId === null) this.streams.forget(streamId);
    else void this.conversations.refresh(conversationId);
  }
}
