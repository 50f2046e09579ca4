import { join } from 'node:path';
import { silentLogger, type Logger } from '../../src/main/base/index.ts';
import { defaultFlagValues, ok, type Message } from '../../src/main/contract/index.ts';
import { Conversations, EngineModels, type ChatEvent, type KnownModel } from '../../src/main/services/index.ts';
import { ConversationFiles, SettingsFile } from '../../src/main/store/index.ts';
import { unwrap } from './engine.ts';
import { ScriptedEngine } from './scripted-engine.ts';
import { waitFor } from './wait-for.ts';

/** The chat service over real files and an engine that answers on command. */
export class ChatBench {
  readonly engine = new ScriptedEngine();
  readonly events: ChatEvent[] = [];
  readonly notices: string[] = [];
  readonly chat: Conversations;
  readonly models: EngineModels;
  /** Models of remote engines, when a test has some. */
  remoteModels: () => readonly KnownModel[] = () => [];
  readonly settings: SettingsFile;
  readonly files: ConversationFiles;

  private constructor(
    files: ConversationFiles,
    settings: SettingsFile,
    notices: string[],
    ids: string,
    logger: Logger,
  ) {
    this.files = files;
    this.settings = settings;
    this.notices = notices;
    const { engine } = this;
    const flags = defaultFlagValues;
    const remoteModels = () => this.remoteModels();
    this.models = new EngineModels({ engine, flags, builtinPath: '/builtin.gguf', settings, remoteModels });
    let id = 0;
    let now = 1000;
    this.chat = new Conversations({
      engine,
      models: this.models,
      files,
      flags,
      logger,
      createId: () => `${ids}${++id}`,
      now: () => ++now,
    });
    this.chat.on((event) => this.events.push(event));
  }

  /** @param ids prefix of the ids it gives out; a second bench on the same folder needs another one. */
  static async open(folder: string, ids = 'id', logger: Logger = silentLogger): Promise<ChatBench> {
    const notices: string[] = [];
    const onNotice = (text: string) => void notices.push(text);
    const ensureOwner = () => Promise.resolve(ok());
    const settings = await SettingsFile.open({ path: join(folder, 'settings.json'), logger, onNotice, ensureOwner });
    const conversations = join(folder, 'conversations');
    const files = await ConversationFiles.open({ folder: conversations, logger, now: Date.now, onNotice, ensureOwner });
    return new ChatBench(files, settings, notices, ids, logger);
  }

  async messages(conversationId: string): Promise<readonly Message[]> {
    return unwrap(await this.chat.get(conversationId)).messages;
  }

  async last(conversationId: string): Promise<Message | undefined> {
    return (await this.messages(conversationId)).at(-1);
  }

  /** Waits for the end of a stream, which comes after its message is on disk. */
  async ended(streamId: string): Promise<Message> {
    const event = await waitFor('the end of the stream', () =>
      this.events.find((each) => each.type === 'stream.end' && each.streamId === streamId),
    );
    if (event.type !== 'stream.end') throw new Error('not the end');
    return event.message;
  }

  async exchange(text: string, answer: string, conversationId?: string, parentId?: string | null) {
    const started = unwrap(await this.chat.send({ text, conversationId, parentId }));
    this.engine.part(started.streamId, { kind: 'text', text: answer });
    await this.engine.end(started.streamId);
    await this.ended(started.streamId);
    return started;
  }

  async close(): Promise<void> {
    await this.chat.close();
    await this.files.close();
  }
}
