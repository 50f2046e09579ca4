import { Emitter, type Logger } from '../base/index.ts';
import {
  fail,
  ok,
  type Conversation,
  type ConversationSummary,
  type FlagValues,
  type Message,
  type Result,
} from '../contract/index.ts';
import type { ChatTurn, Engine, GenerateOutcome } from '../engine/index.ts';
import { ConversationTree, titleOf } from './conversation.ts';
import type { ChatEvent, ChatService, StartedAnswer } from './interfaces.ts';
import { withFlagDefaults } from './sampling.ts';

export type ConversationsDependencies = {
  readonly engine: Engine;
  readonly flags: FlagValues;
  readonly logger: Logger;
  readonly createId: () => string;
  /** Unix time in ms. */
  readonly now: () => number;
};

/** Conversations in memory, answered by the engine. An answer goes on while no page is attached; only Stop stops it. */
export class Conversations implements ChatService {
  readonly #engine: Engine;
  readonly #flags: FlagValues;
  readonly #logger: Logger;
  readonly #createId: () => string;
  readonly #now: () => number;
  readonly #trees = new Map<string, ConversationTree>();
  readonly #events: Emitter<ChatEvent>;

  constructor({ engine, flags, logger, createId, now }: ConversationsDependencies) {
    this.#engine = engine;
    this.#flags = flags;
    this.#logger = logger;
    this.#createId = createId;
    this.#now = now;
    this.#events = new Emitter((error) => logger.error('chat listener failed', { error: String(error) }));
  }

  on(listener: (event: ChatEvent) => void): () => void {
    return this.#events.on(listener);
  }

  list(): readonly ConversationSummary[] {
    return [...this.#trees.values()].map((tree) => tree.summary).sort((a, b) => b.updatedAt - a.updatedAt);
  }

  get(conversationId: string): Result<Conversation> {
    const tree = this.#trees.get(conversationId);
    return tree === undefined ? noConversation() : ok(tree.snapshot);
  }

  select(conversationId: string, messageId: string): Result<{ leafId: string }> {
    const tree = this.#trees.get(conversationId);
    if (tree === undefined) return noConversation();
    if (tree.message(messageId) === undefined) return noMessage();
    const leafId = tree.select(messageId);
    this.#events.emit({ type: 'leaf.changed', conversationId, leafId });
    return ok({ leafId });
  }

  send(request: {
    conversationId?: string | undefined;
    parentId?: string | undefined;
    text: string;
  }): Result<StartedAnswer & { userMessage: Message }> {
    if (request.text.trim() === '') return fail('prompt_empty', 'The message is empty.', 'Write something first.');
    const tree =
      request.conversationId === undefined ? this.#begin(request.text) : this.#trees.get(request.conversationId);
    if (tree === undefined) return noConversation();
    if (tree.streaming() !== undefined) return busy();
    const parentId = request.parentId ?? tree.leafId;
    if (parentId !== null && tree.message(parentId)?.role !== 'assistant') {
      return fail(
        'message_not_found',
        'The answer that this message follows is not there (any more).',
        'Reload the page.',
      );
    }
    const userMessage = this.#message(tree.id, parentId, 'user', request.text);
    this.#add(tree, userMessage);
    return ok({ ...this.#answer(tree, userMessage.id), userMessage });
  }

  regenerate(conversationId: string, messageId: string): Result<StartedAnswer> {
    const tree = this.#trees.get(conversationId);
    if (tree === undefined) return noConversation();
    if (tree.streaming() !== undefined) return busy();
    const message = tree.message(messageId);
    const userId = message?.role === 'assistant' ? message.parentId : message?.id;
    if (userId === undefined || userId === null) return noMessage();
    return ok(this.#answer(tree, userId));
  }

  stop(streamId: string): boolean {
    return this.#engine.stop(streamId);
  }

  #begin(text: string): ConversationTree {
    const tree = new ConversationTree(this.#createId(), titleOf(text), this.#now());
    this.#trees.set(tree.id, tree);
    return tree;
  }

  /** Adds the answer that will be filled and lets the engine write it in the background. */
  #answer(tree: ConversationTree, userId: string): StartedAnswer {
    const streamId = this.#createId();
    const answer: Message = {
      ...this.#message(tree.id, userId, 'assistant', ''),
      status: 'streaming',
      streamId,
      modelName: this.#engine.status().model?.name ?? null,
    };
    this.#add(tree, answer);
    void this.#generate(tree, answer, streamId);
    return { conversationId: tree.id, streamId, answerId: answer.id };
  }

  async #generate(tree: ConversationTree, answer: Message, streamId: string): Promise<void> {
    let text = '';
    let thought = '';
    const off = this.#engine.on((event) => {
      if (event.type !== 'part' || event.generationId !== streamId) return;
      if (event.part.kind === 'thought') thought += event.part.text;
      else text += event.part.text;
      this.#events.emit({ type: 'stream.part', streamId, part: event.part });
    });
    const result = await this.#engine
      .generate({
        id: streamId,
        turns: turnsOf(tree.pathTo(answer.parentId)),
        sampling: withFlagDefaults({}, this.#flags),
        stop: [],
        overflow: 'drop_oldest',
      })
      .catch((error: unknown) => {
        this.#logger.error('generation broke', { error: String(error) });
        return fail('internal', 'Something broke inside Dormouse; the log has the details.', 'Try again.');
      });
    off();
    const ended = finished({ ...answer, text, thought }, result);
    tree.replace(ended);
    this.#events.emit({ type: 'stream.end', streamId, message: ended });
  }

  #add(tree: ConversationTree, message: Message): void {
    tree.add(message);
    this.#events.emit({ type: 'conversation.changed', conversation: tree.summary });
    this.#events.emit({ type: 'message.added', message, leafId: message.id });
  }

  #message(conversationId: string, parentId: string | null, role: Message['role'], text: string): Message {
    return {
      id: this.#createId(),
      conversationId,
      parentId,
      role,
      text,
      thought: '',
      createdAt: this.#now(),
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
  const { stopReason, timings } = result.data;
  return { ...answer, status: stopReason === 'stopped' ? 'stopped' : 'done', streamId: null, stopReason, timings };
}

function noConversation() {
  return fail(
    'conversation_not_found',
    'This conversation is not there (any more).',
    'Choose another one on the left.',
  );
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
