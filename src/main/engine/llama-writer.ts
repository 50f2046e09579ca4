import {
  LlamaGrammarEvaluationState,
  type LlamaContextSequence,
  type LlamaGrammar,
  type Token,
  type TokenBias,
} from 'node-llama-cpp';
import { penaltyOptions, samplingOptions } from './llama-sampling.ts';
import type { FullSampling } from './sampling.ts';
import { StopStrings } from './stop-strings.ts';

/** Tokens that may be needed for one character; what is broken after that is shown as it is. */
const longestCharacter = 8;
/** Tokens before a text that decide how its first token is spelled. */
const detokenizerContext = 32;

export type WriteRequest = {
  readonly sequence: LlamaContextSequence;
  /** Not yet evaluated; at least one. */
  readonly tokens: readonly Token[];
  readonly sampling: FullSampling;
  readonly bias: TokenBias | null;
  /** null: free text. */
  readonly grammar: LlamaGrammar | null;
  readonly stop: readonly string[];
  /** Most tokens to be written; at least 1. */
  readonly maxTokens: number;
  readonly signal: AbortSignal;
  /** @param tokens how many tokens were evaluated for it since the last call. */
  readonly onText: (text: string, tokens: number) => void;
};

export type Written = {
  readonly end: 'end' | 'stop_string' | 'max_tokens' | 'stopped';
  /** Tokens that were sampled, without the one that ends the answer. */
  readonly tokens: number;
};

/**
 * Writes on from where the sequence stands, token by token, without any chat format: raw completions and everything that
 * a grammar holds from its first letter on. @throws what node-llama-cpp throws, but not for a stop.
 */
export async function write(request: WriteRequest): Promise<Written> {
  const { sequence, signal, maxTokens, onText } = request;
  const stops = new StopStrings(request.stop);
  const letters = new Letters(sequence, request.tokens);
  let tokens = 0;
  let told = 0;
  const show = (text: string): boolean => {
    const released = stops.push(text);
    if (released.text !== '') onText(released.text, tokens - told);
    if (released.text !== '') told = tokens;
    return released.stopped;
  };
  const rest = () => {
    const text = letters.flush();
    const stopped = show(text);
    const held = stopped ? '' : stops.flush();
    if (held !== '') onText(held, tokens - told);
    return stopped;
  };
  try {
    for await (const token of sequence.evaluate([...request.tokens], options(request, letters.written))) {
      tokens += 1;
      if (show(letters.push(token))) return { end: 'stop_string', tokens };
      if (tokens >= maxTokens || signal.aborted) break;
    }
  } catch (error) {
    // The pool ends an evaluation in the middle when it is told to stop.
    if (!signal.aborted) throw error;
  }
  if (rest()) return { end: 'stop_string', tokens };
  return { end: signal.aborted ? 'stopped' : tokens >= maxTokens ? 'max_tokens' : 'end', tokens };
}

function options({ sequence, sampling, bias, grammar }: WriteRequest, written: readonly Token[]) {
  const penalty = penaltyOptions(sampling);
  const grammarEvaluationState =
    grammar === null ? undefined : new LlamaGrammarEvaluationState({ model: sequence.model, grammar });
  return {
    ...samplingOptions(sampling),
    ...(penalty === null ? {} : { repeatPenalty: punish(penalty, written) }),
    ...(bias === null ? {} : { tokenBias: bias }),
    ...(grammarEvaluationState === undefined ? {} : { grammarEvaluationState }),
  };
}

function punish(penalty: NonNullable<ReturnType<typeof penaltyOptions>>, written: readonly Token[]) {
  const { lastTokens, ...values } = penalty;
  return { ...values, punishTokens: () => written.slice(-lastTokens), maxPunishTokens: lastTokens };
}

/** Spells tokens; one that ends inside a character waits for the next. */
class Letters {
  readonly written: Token[] = [];
  readonly #sequence: LlamaContextSequence;
  readonly #before: readonly Token[];
  #pending: Token[] = [];

  constructor(sequence: LlamaContextSequence, prompt: readonly Token[]) {
    this.#sequence = sequence;
    this.#before = [...sequence.contextTokens.slice(-detokenizerContext), ...prompt.slice(-detokenizerContext)];
  }

  push(token: Token): string {
    this.#pending.push(token);
    const text = this.#spell();
    if (text.endsWith('\uFFFD') && this.#pending.length < longestCharacter) return '';
    return this.#take(text);
  }

  flush(): string {
    return this.#pending.length === 0 ? '' : this.#take(this.#spell());
  }

  #take(text: string): string {
    this.written.push(...this.#pending);
    this.#pending = [];
    return text;
  }

  #spell(): string {
    const before = this.written.length >= detokenizerContext ? [] : this.#before;
    const context = [...before, ...this.written.slice(-detokenizerContext)];
    return this.#sequence.model.detokenize(this.#pending, false, context);
  }
}
