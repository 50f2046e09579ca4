import { InsufficientMemoryError, type LlamaContext, type LlamaModel, type Token } from 'node-llama-cpp';
import { fail, ok, type Result } from '../contract/index.ts';
import type { EmbedOutcome } from './engine.ts';
import { vocabularySize } from './llama-sampling.ts';

type Input = string | readonly number[];

/** Tokens that an embedding context is made for at a time; models that look at a whole text at once need it in one batch. */
const step = 256;
const largestBatch = 2048;

/**
 * One vector of length 1 for each input. Its context lives as long as the call: it takes memory that answers need.
 * @param context the one of the answers; inputs may be as long as theirs.
 * @param signal ends it between two inputs; the vectors so far are answered.
 */
export async function embed(
  model: LlamaModel,
  context: LlamaContext,
  inputs: readonly Input[],
  signal: AbortSignal,
): Promise<Result<EmbedOutcome>> {
  const prepared = prepare(model, context.contextSize, inputs);
  if (!prepared.ok) return prepared;
  const longest = Math.max(1, ...prepared.data.map((tokens) => tokens.length)) + 3;
  const contextSize = Math.ceil(longest / step) * step;
  try {
    const embedding = await model.createEmbeddingContext({
      contextSize,
      batchSize: Math.min(contextSize, largestBatch),
      threads: context.idealThreads,
    });
    try {
      const vectors: number[][] = [];
      let promptTokens = 0;
      for (const tokens of prepared.data) {
        if (signal.aborted) break;
        promptTokens += embedding.calculateInputLength([...tokens]);
        const { vector } = await embedding.getEmbeddingFor([...tokens]);
        const unit = normalised(vector);
        if (unit === null) return unsupported('Its vectors have no direction.');
        vectors.push(unit);
      }
      return ok({ vectors, promptTokens });
    } finally {
      await embedding.dispose();
    }
  } catch (error) {
    if (error instanceof InsufficientMemoryError) {
      return fail('out_of_memory', error.message, 'Send shorter texts, or choose a smaller context.');
    }
    return unsupported(error instanceof Error ? error.message : String(error));
  }
}

function prepare(model: LlamaModel, contextSize: number, inputs: readonly Input[]): Result<readonly Token[][]> {
  const size = vocabularySize(model);
  const prepared: Token[][] = [];
  for (const input of inputs) {
    const tokens = typeof input === 'string' ? model.tokenize(input) : [...input];
    if (tokens.length === 0) return fail('prompt_empty', 'An input to embed is empty.');
    if (tokens.some((token) => !Number.isInteger(token) || token < 0 || token >= size)) {
      return fail('invalid_input', `A token id is not one of the model's, 0 to ${size - 1}.`);
    }
    if (tokens.length > contextSize - 3) {
      const message = `An input to embed has ${tokens.length} tokens, but the context holds ${contextSize}.`;
      return fail('prompt_too_long', message, 'Split the text, or load the model with a larger context (--context).');
    }
    prepared.push(tokens as Token[]);
  }
  return ok(prepared);
}

function normalised(vector: readonly number[]): number[] | null {
  const length = Math.hypot(...vector);
  return Number.isFinite(length) && length > 0 ? vector.map((value) => value / length) : null;
}

function unsupported(reason: string) {
  return fail('embedding_unsupported', `This model makes no embeddings: ${reason}`);
}
