import type { ConversationOptions, ConversationSummary, Message, StreamPart } from './chat.ts';
import type { EngineStatus } from './engine.ts';
import type { Remote } from './remotes.ts';
import type { ExchangeEntry, ServerStatus } from './server.ts';
import type { Settings } from './settings.ts';
import type { LadderStatus, RequestMark, TelemetrySample } from './telemetry.ts';

/**
 * What main tells every attached page. Everything is structured-clone and JSON safe.
 * `seq` starts at 1 for each stream and has no gaps; `stream.end` is the last event of its stream.
 */
export type AppEvent =
  | { readonly type: 'engine.status'; readonly status: EngineStatus }
  | { readonly type: 'conversation.changed'; readonly conversation: ConversationSummary }
  | { readonly type: 'conversation.removed'; readonly conversationId: string }
  | {
      readonly type: 'conversation.configured';
      readonly conversationId: string;
      readonly options: ConversationOptions;
    }
  /** Something a person should know although nobody asked, such as an answer that could not be saved. */
  | { readonly type: 'notice'; readonly text: string }
  | { readonly type: 'telemetry.sample'; readonly sample: TelemetrySample }
  /** A request to the engine has begun or ended: told before the next sample, and only while somebody watches. */
  | { readonly type: 'telemetry.mark'; readonly mark: RequestMark }
  | { readonly type: 'ladder.changed'; readonly ladder: LadderStatus }
  /** The window's menu or the tray asks the page to go somewhere. */
  | { readonly type: 'navigate'; readonly to: 'new-chat' | 'monitor' | 'server' }
  | { readonly type: 'server.changed'; readonly status: ServerStatus }
  /** Only to a page that came through the server: it answers under another port now. `link` is for this page, once. */
  | { readonly type: 'server.moved'; readonly link: string; readonly forwarded: boolean }
  /** An exchange with a program has begun or ended; only told while somebody watches. */
  | { readonly type: 'server.exchange'; readonly entry: ExchangeEntry }
  | { readonly type: 'server.logCleared' }
  | { readonly type: 'remotes.changed'; readonly remotes: readonly Remote[] }
  | { readonly type: 'settings.changed'; readonly settings: Settings }
  | { readonly type: 'message.added'; readonly message: Message; readonly leafId: string }
  | { readonly type: 'leaf.changed'; readonly conversationId: string; readonly leafId: string }
  | {
      readonly type: 'stream.chunk';
      readonly streamId: string;
      readonly seq: number;
      readonly parts: readonly StreamPart[];
    }
  | { readonly type: 'stream.end'; readonly streamId: string; readonly seq: number; readonly message: Message };
