import { createStore, type StoreApi } from 'zustand/vanilla';
import type { AppEvent, AppInfo, Bridge, ConnectionState } from '../../main/contract/index.ts';
import { ChatActions } from './chat-actions.ts';
import { Conversations, type RememberedChat } from './conversations.ts';
import { Engine } from './engine.ts';
import { ListActions } from './list-actions.ts';
import { Notices } from './notices.ts';
import { Server } from './server.ts';
import { SettingsStore, type RememberedSettings } from './settings.ts';
import { StreamHub } from './stream-hub.ts';
import { Telemetry, type TabEnvironment } from './telemetry.ts';
import { View, type RememberedView } from './view.ts';

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
  readonly rememberedView: RememberedView;
  readonly tab: TabEnvironment;
  /** Leaves this page for another address. */
  readonly goTo: (url: string) => void;
}

type ServerEvent = Extract<AppEvent, { readonly type: `server.${string}` | 'remotes.changed' }>;

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
  readonly telemetry: Telemetry;
  readonly view: View;
  readonly server: Server;
  readonly #bridge: Bridge;
  readonly #goTo: (url: string) => void;

  constructor(options: AppStateOptions) {
    const { bridge, schedule, now, remembered, rememberedSettings, rememberedView, tab, goTo } = options;
    const tell = (text: string) => this.notices.add(text);
    this.#bridge = bridge;
    this.#goTo = goTo;
    this.server = new Server({ bridge, tab, schedule });
    this.settings = new SettingsStore(bridge, rememberedSettings, tell);
    this.engine = new Engine(bridge);
    this.view = new View(rememberedView);
    this.telemetry = new Telemetry({ bridge, tab, onLadder: (ladder) => this.engine.applyLadder(ladder) });
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
      this.telemetry.connectionChanged(connection);
      this.server.connectionChanged(connection);
      if (connection === 'open') void this.#refresh();
    });
    const endTabs = [this.telemetry.start(), this.server.start()];
    return () => {
      for (const end of endTabs) end();
      endEvents();
      endConnection();
    };
  }

  async #refresh(): Promise<void> {
    await Promise.all([
      this.#refreshEngine(),
      this.conversations.refreshAll(),
      this.settings.refresh(),
      this.server.refresh(),
      this.#refreshInfo(),
    ]);
  }

  async #refreshEngine(): Promise<void> {
    await this.engine.refresh();
    // An engine without a model may be a hibernated one, which nothing else tells a page that has just come.
    if (this.engine.store.getState().status?.state === 'empty') await this.telemetry.learnLadder();
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
      case 'telemetry.sample':
        this.telemetry.addSample(event.sample);
        return;
      case 'telemetry.mark':
        this.telemetry.addMark(event.mark);
        return;
      case 'ladder.changed':
        this.engine.applyLadder(event.ladder);
        return;
      case 'navigate':
        if (event.to === 'new-chat') this.conversations.open(null);
        this.view.show(event.to === 'new-chat' ? 'chat' : event.to);
        return;
      case 'server.changed':
      case 'server.moved':
      case 'server.exchange':
      case 'server.logCleared':
      case 'remotes.changed':
        this.#applyServer(event);
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

  #applyServer(event: ServerEvent): void {
    switch (event.type) {
      case 'server.changed':
        return this.server.apply(event.status);
      case 'server.moved':
        return this.#follow(event.link, event.forwarded);
      case 'server.exchange':
        return this.server.addEntry(event.entry);
      case 'server.logCleared':
        return this.server.logCleared();
      case 'remotes.changed':
        this.server.applyRemotes(event.remotes);
        void this.engine.refreshModels();
    }
  }

  /** Behind a forward (SSH, a container) the new port leads nowhere until the forward is changed too. */
  #follow(link: string, forwarded: boolean): void {
    if (!forwarded) return this.#goTo(link);
    const { host } = new URL(link);
    this.notices.add(`Dormouse listens at ${host} now. Forward that port, then open a fresh link to it.`);
  }

  #fetchConversationOf(streamId: string): void {
    const conversationId = this.conversations.conversationOfStream(streamId);
    if (conversationId === null) this.streams.forget(streamId);
    else void this.conversations.refresh(conversationId);
  }
}
