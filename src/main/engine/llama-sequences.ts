import type { LlamaContext, LlamaContextSequence, Token } from 'node-llama-cpp';
import { alignPrompt } from './llama-prompt.ts';

type Slot = { sequence: LlamaContextSequence; busy: boolean; lastUse: number };

/** Below this share of a prompt a common beginning is not worth another sequence's cache. */
const worthKeeping = 0.1;

/** The sequences of one context, each with the KV cache of what it read and wrote last. */
export class LlamaSequences {
  readonly #context: LlamaContext;
  readonly #slots: readonly Slot[];
  #uses = 0;

  constructor(context: LlamaContext) {
    this.#context = context;
    this.#slots = Array.from({ length: context.totalSequences }, () => ({
      sequence: context.getSequence(),
      busy: false,
      lastUse: 0,
    }));
  }

  get all(): readonly LlamaContextSequence[] {
    return this.#slots.map((slot) => slot.sequence);
  }

  /** Tokens in the cache of the fullest one. */
  get used(): number {
    return Math.max(0, ...this.all.map((sequence) => (sequence.disposed ? 0 : sequence.nextTokenIndex)));
  }

  /**
   * The free sequence that holds the longest beginning of the prompt. Where that is next to nothing, such as only what
   * all chats begin with, the one that was not used for the longest time, so that no other cache is lost for it.
   * @throws when all are in use: no more may run at a time than there are.
   */
  take(tokens: readonly Token[]): LlamaContextSequence {
    const free = this.#slots.filter((slot) => !slot.busy).toSorted((a, b) => a.lastUse - b.lastUse);
    const rated = free.map((slot) => ({ slot, common: free.length === 1 ? 0 : commonStart(slot.sequence, tokens) }));
    const most = Math.max(...rated.map(({ common }) => common));
    const worth = most >= tokens.length * worthKeeping;
    const slot = rated.find(({ common }) => !worth || common === most)?.slot;
    if (slot === undefined) throw new Error('no sequence is free');
    slot.busy = true;
    slot.lastUse = ++this.#uses;
    return slot.sequence;
  }

  /**
   * @param broken after a failed evaluation the sequence holds tokens of which llama.cpp knows nothing: a new one takes
   * its place.
   */
  async giveBack(sequence: LlamaContextSequence, broken: boolean): Promise<void> {
    const slot = this.#slots.find((one) => one.sequence === sequence);
    if (slot === undefined) return;
    if (broken && !this.#context.disposed) {
      await sequence.dispose();
      slot.sequence = this.#context.getSequence();
    }
    slot.busy = false;
  }
}

function commonStart(sequence: LlamaContextSequence, tokens: readonly Token[]): number {
  const held = sequence.contextTokens;
  const aligned = alignPrompt(sequence, tokens);
  const length = Math.min(held.length, aligned.length);
  let common = 0;
  while (common < length && held[common] === aligned[common]) common++;
  return common;
}
