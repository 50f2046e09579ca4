import { Emitter, SerialQueue, type Logger } from '../base/index.ts';
import {
  fail,
  ok,
  remotePrefix,
  type Conversation,
  type ConversationOptions,
  type ConversationSummary,
  type FlagValues,
  type Message,
  type Result,
} from '../contract/index.ts';
import { nothingGenerated, type ChatTurn, type GenerateOutcome } from '../engine/index.ts';
import type { ConversationFiles, ConversationRecord } from '../store/index.ts';
import { AnswerWriter } from './answer-writer.ts';
import { ConversationTree, oneLine, titleOf } from './conversation.ts';
import type { ChatEvent, ChatService, ModelService, SendRequest, StartedAnswer } from './interfaces.ts';
import { OpenConversations } from './open-conversations.ts';
import type { ChatEngine } from './request-gate.ts';
import { withFlagDefaults } from './sampling.ts';
import { UnsavedConversations } from './unsaved.ts';

/** How often a conversation may ask for its model again because another one was loaded in between. */
const modelTries = 3;

type RunningAnswer = { readonly streamId: string; readonly stopped: AbortController; readonly ended: Promise<void> };

export type ConversationsDependencies = {
  readonly engine: ChatEngine;
  readonly models: Pick<ModelService, 'load' | 'cancelLoad' | 'pathOf' | 'hibernated' | 'known'>;
  readonly files: ConversationFiles;
  readonly flags: FlagValues;
  readonly logger: Logger;
  readonly createId: () => string;
  /** Unix time in ms. */
  readonly now: () => number;
};

/**
 * Conversations on disk, answered by the engine. What a person sends is on disk before the engine is asked;
 * an answer goes on while no page is attached, and only Stop stops it.
 */
export class Conversations implements ChatService {
  readonly #deps: ConversationsDependencies;
  readonly #open: OpenConversations;
  readonly #unsaved: UnsavedConversations;
  readonly #events: Emitter<ChatEvent>;
  /** Changes of conversations happen one after the other. */
  readonly #changes = new SerialQueue();
  /** Answers being written, by conversation. `stopped` also ends what comes before the engine: loading a model. */
  readonly #running = new Map<string, RunningAnswer>();

  constructor(deps: ConversationsDependencies) {
    this.#deps = deps;
    this.#unsaved = new UnsavedConversations(deps.files, (tree) =>
      this.#events.emit({ type: 'notice', text: `"${tree.summary.title}" is saved now.` }),
    );
    this.#open = new OpenConversations(
      (id) => deps.files.read(id),
      (tree) => tree.streaming() !== undefined || this.#unsaved.has(tree.id),
    );
    this.#events = new Emitter((error) => deps.logger.error('chat listener failed', { error: String(error) }));
  }

  on(listener: (event: ChatEvent) => void): () => void {
    return this.#events.on(listener);
  }

  list(): readonly ConversationSummary[] {
    return [...this.#deps.files.summaries()].sort((a, b) => b.updatedAt - a.updatedAt);
  }

  async get(conversationId: string): Promise<Result<Conversation>> {
    const tree = await this.#open.get(conversationId);
    return tree.ok ? ok(tree.data.snapshot) : tree;
  }

  select(conversationId: string, messageId: string): Promise<Result<{ leafId: string }>> {
    return this.#change(conversationId, async (tree) => {
      if (tree.message(messageId) === undefined) return noMessage();
      const leafId = tree.select(messageId);
      // Which branch is on screen is worth no error: it is kept in memory anyway.
      await this.#append(tree, [{ type: 'leaf', id: leafId }], false);
      this.#events.emit({ type: 'leaf.changed', conversationId, leafId });
      return ok({ leafId });
    });
  }

  rename(conversationId: string, wished: string): Promise<Result<ConversationSummary>> {
    return this.#change(conversationId, async (tree) => {
      const title = oneLine(wished);
      if (title === '') return fail('invalid_input', 'A title needs at least one letter.');
      const before = tree.summary.title;
      tree.rename(title);
      const saved = await this.#append(tree, [{ type: 'title', title }], true);
      if (!saved.ok) {
        tree.rename(before);
        return saved;
      }
      this.#events.emit({ type: 'conversation.changed', conversation: tree.summary });
      return ok(tree.summary);
    });
  }

  configure(conversationId: string, changes: Partial<ConversationOptions>): Promise<Result<ConversationOptions>> {
    return this.#change(conversationId, async (tree) => {
      const before = tree.options;
      tree.configure(changes);
      const saved = await this.#append(tree, [{ type: 'options', ...tree.options }], true);
      if (!saved.ok) {
        tree.configure(before);
        return saved;
      }
      this.#events.emit({ type: 'conversation.configured', conversationId, options: tree.options });
      return ok(tree.options);
    });
  }

  async remove(conversationId: string): Promise<Result<void>> {
    // Outside of the queue: the end of a batch may take its time, and other chats need not wait for it.
    for (let running = this.#running.get(conversationId); running; running = this.#running.get(conversationId)) {
      this.stop(running.streamId);
      await running.ended;
    }
    return this.#changes.run(async () => {
      if (this.#running.has(conversationId)) return busy();
      const removed = await this.#deps.files.remove(conversationId);
      if (!removed.ok) return removed;
      this.#unsaved.delete(conversationId);
      this.#open.drop(conversationId);
      this.#events.emit({ type: 'conversation.removed', conversationId });
      return ok();
    });
  }

  restore(conversationId: string): Promise<Result<ConversationSummary>> {
    return this.#changes.run(async () => {
      const restored = await this.#deps.files.restore(conversationId);
      if (!restored.ok) return restored;
      const { summary } = this.#open.put(new ConversationTree(restored.data));
      this.#events.emit({ type: 'conversation.changed', conversation: summary });
      return ok(summary);
    });
  }

  send(request: SendRequest): Promise<Result<StartedAnswer & { userMessage: Message }>> {
    return this.#changes.run(async () => {
      if (request.text.trim() === '') return fail('prompt_empty', 'The message is empty.', 'Write something first.');
      const opened =
        request.conversationId === undefined ? ok(this.#begin(request)) : await this.#open.get(request.conversationId);
      if (!opened.ok) return opened;
      const tree = opened.data;
      if (tree.streaming() !== undefined) return busy();
      const parentId = request.parentId === undefined ? tree.leafId : request.parentId;
      if (parentId !== null && tree.message(parentId)?.role !== 'assistant') {
        return fail(
          'message_not_found',
          'The answer that this message follows is not there (any more).',
          'Reload the page.',
        );
      }
      const userMessage = this.#message(tree.id, parentId, 'user', request.text);
      const started = await this.#answer(tree, userMessage.id, [userMessage]);
      return started.ok ? ok({ ...started.data, userMessage }) : started;
    });
  }

  regenerate(conversationId: string, messageId: string): Promise<Result<StartedAnswer>> {
    return this.#change(conversationId, async (tree) => {
      if (tree.streaming() !== undefined) return busy();
      const message = tree.message(messageId);
      const userId = message?.role === 'assistant' ? message.parentId : message?.id;
      if (userId === undefined || userId === null) return noMessage();
      return this.#answer(tree, userId, []);
    });
  }

  stop(streamId: string): boolean {
    const running = [...this.#running.values()].find((each) => each.streamId === streamId);
    running?.stopped.abort();
    return running !== undefined;
  }

  /** Waits until everything is on disk. The engine must be closed, or answers may go on. */
  async close(): Promise<void> {
    await Promise.all([...this.#running.values()].map(({ ended }) => ended));
    await this.#changes.run(() => this.#unsaved.retry());
  }

  #change<T>(id: string, change: (tree: ConversationTree) => Promise<Result<T>>): Promise<Result<T>> {
    return this.#changes.run(async () => {
      const tree = await this.#open.get(id);
      return tree.ok ? change(tree.data) : tree;
    });
  }

  async #append(tree: ConversationTree, records: readonly ConversationRecord[], sync: boolean): Promise<Result<void>> {
    const saved = await this.#deps.files.append(tree.snapshot, records, { sync });
    // What could not be saved before went along.
    if (saved.ok) this.#unsaved.delete(tree.id);
    return saved;
  }

  #begin({ text, options = {} }: SendRequest): ConversationTree {
    return ConversationTree.empty(this.#deps.createId(), titleOf(text), this.#deps.now(), options);
  }

  /**
   * Puts `before` and an empty answer on disk together, then tells the pages and lets the engine write in the
   * background. When they cannot be saved, everything is as before.
   */
  async #answer(tree: ConversationTree, userId: string, before: readonly Message[]): Promise<Result<StartedAnswer>> {
    const streamId = this.#deps.createId();
    const answer: Message = {
      ...this.#message(tree.id, userId, 'assistant', ''),
      status: 'streaming',
      streamId,
      modelName: this.#modelName(tree),
    };
    const added = [...before, answer];
    const leafBefore = tree.leafId;
    for (const message of added) tree.add(message);
    const records = added.map((message): ConversationRecord => ({ type: 'message', message }));
    const saved = await this.#append(tree, records, true);
    if (!saved.ok) {
      tree.takeBack(
        added.map(({ id }) => id),
        leafBefore,
      );
      return saved;
    }
    this.#open.put(tree);
    this.#events.emit({ type: 'conversation.changed', conversation: tree.summary });
    for (const message of added) this.#events.emit({ type: 'message.added', message, leafId: message.id });
    const stopped = new AbortController();
    const ended = this.#write(tree, answer, streamId, stopped.signal).finally(() => this.#running.delete(tree.id));
    this.#running.set(tree.id, { streamId, stopped, ended });
    return ok({ conversationId: tree.id, streamId, answerId: answer.id });
  }

  async #write(tree: ConversationTree, answer: Message, streamId: string, stopped: AbortSignal): Promise<void> {
    let told = false;
    const writer = new AnswerWriter(this.#deps.files, tree, answer, (result) => {
      if (result.ok) return this.#unsaved.delete(tree.id);
      this.#unsaved.add(tree);
      if (told) return;
      told = true;
      this.#events.emit({
        type: 'notice',
        text: `An answer is not saved yet. ${result.error.message} ${result.error.hint ?? ''}`.trim(),
      });
    });
    const off = this.#deps.engine.on((event) => {
      // Without tools there are no calls.
      if (event.type !== 'part' || event.generationId !== streamId || event.part.kind === 'tool_call') return;
      writer.push(event.part);
      this.#events.emit({ type: 'stream.part', streamId, part: event.part });
    });
    const result = await this.#generate(tree, answer, streamId, stopped).catch((error: unknown) => {
      this.#deps.logger.error('generation broke', { error: String(error) });
      return fail('internal', 'Something broke inside Dormouse; the log has the details.', 'Try again.');
    });
    off();

    const modelName = this.#modelName(tree) ?? answer.modelName;
    const message = finished({ ...writer.answer, modelName }, result);
    await writer.finish(message);
    this.#events.emit({ type: 'stream.end', streamId, message });
  }

  /** Loads the conversation's own model first, where it has one. */
  async #generate(
    tree: ConversationTree,
    answer: Message,
    streamId: string,
    stopped: AbortSignal,
  ): Promise<Result<GenerateOutcome>> {
    const stop = () => void this.#deps.engine.stop(streamId);
    const { systemPrompt, model } = tree.options;
    const system: ChatTurn[] =
      systemPrompt === null || systemPrompt.trim() === '' ? [] : [{ role: 'system', text: systemPrompt }];
    const turns = [...system, ...turnsOf(tree.pathTo(answer.parentId))];
    const sampling = withFlagDefaults({}, this.#deps.flags);
    const modelPath = model === null ? null : this.#deps.models.pathOf(model);
    for (let attempt = 1; ; attempt++) {
      // A hibernated one comes back by itself.
      const present = this.#deps.engine.status().model ?? this.#deps.models.hibernated();
      if (model !== null && !model.startsWith(remotePrefix) && present?.path !== modelPath) {
        const loaded = await this.#loadFor(model, stopped);
        if (stopped.aborted) return ok(nothingGenerated(0));
        if (!loaded.ok) return loaded;
      }
      const running = this.#deps.engine.generate({
        id: streamId,
        prompt: { kind: 'chat', turns },
        sampling,
        logitBias: new Map(),
        stop: [],
        output: { kind: 'text' },
        tools: null,
        overflow: 'drop_oldest',
        modelPath,
      });
      if (stopped.aborted) stop();
      stopped.addEventListener('abort', stop);
      const result = await running.finally(() => stopped.removeEventListener('abort', stop));
      if (result.ok || result.error.code !== 'model_changed' || attempt === modelTries) return result;
    }
  }

  #modelName(tree: ConversationTree): string | null {
    const { model } = tree.options;
    if (model === null || !model.startsWith(remotePrefix)) return this.#deps.engine.status().model?.name ?? null;
    return this.#deps.models.known().find(({ path }) => path === model)?.id ?? null;
  }

  /** Loads a conversation's own model, without making it the one of the next start. Stop ends the load. */
  async #loadFor(model: string, stopped: AbortSignal): Promise<Result<unknown>> {
    const { models } = this.#deps;
    const loading = models.load(model, { remember: false });
    if (stopped.aborted) models.cancelLoad();
    // A load may wait behind another answer: who stopped does not wait with it.
    const given = new Promise<Result<unknown>>((resolve) => {
      stopped.addEventListener('abort', () => {
        models.cancelLoad();
        resolve(ok());
      });
    });
    return Promise.race([loading, given]);
  }

  #message(conversationId: string, parentId: string | null, role: Message['role'], text: string): Message {
    return {
      id: this.#deps.createId(),
      conversationId,
      parentId,
      role,
      text,
      thought: '',
      createdAt: this.#deps.now(),
      status: 'done',
      streamId: null,
      error: null,
      stopReason: null,
      timings: null,
      modelName: null,
    };
  }
}

/** What the model sees of a branch: answers without their thinking, and nothing of answers that failed empty. */
function turnsOf(path: readonly Message[]): ChatTurn[] {
  return path
    .filter((message) => message.role === 'user' || message.text !== '')
    .map((message) => ({ role: message.role, text: message.text }));
}

function finished(answer: Message, result: Result<GenerateOutcome>): Message {
  if (!result.ok) return { ...answer, status: 'failed', streamId: null, error: result.error };
  const { timings } = result.data;
  const stopReason = result.data.stopReason === 'tool_calls' ? 'end' : result.data.stopReason;
  return { ...answer, status: stopReason === 'stopped' ? 'stopped' : 'done', streamId: null, stopReason, timings };
}

function noMessage() {
  return fail('message_not_found', 'This message is not there (any more).', 'Reload the page.');
}

function busy() {
  return fail(
    'conversation_busy',
    'An answer is still being written in this conversation.',
    'Wait for it, or stop it first.',
  );
}
