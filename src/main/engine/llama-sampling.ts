import { TokenBias, type LlamaModel, type Token } from 'node-llama-cpp';
import type { FullSampling } from './sampling.ts';

/** How far back a repeat penalty alone looks, in tokens, and how far penalties that count each token. */
const repeatWindow = 64;
const countingWindow = 4096;

/** Sampling values as node-llama-cpp's evaluation takes them. */
export function samplingOptions(sampling: FullSampling) {
  const { temperature, topP, topK, minP, seed } = sampling;
  return { temperature, topP, topK, minP, seed };
}

/** null: no penalty is asked for. */
export function penaltyOptions({ repeatPenalty, frequencyPenalty, presencePenalty }: FullSampling) {
  const counts = frequencyPenalty !== 0 || presencePenalty !== 0;
  if (repeatPenalty === 1 && !counts) return null;
  const lastTokens = counts ? countingWindow : repeatWindow;
  return { penalty: repeatPenalty, frequencyPenalty, presencePenalty, lastTokens };
}

/** null: nothing is biased. Ids that the vocabulary does not have are left out. */
export function tokenBias(model: LlamaModel, bias: ReadonlyMap<number, number>): TokenBias | null {
  const size = vocabularySize(model);
  const known = [...bias].filter(([token, logit]) => token >= 0 && token < size && logit !== 0);
  if (known.length === 0) return null;
  const made = new TokenBias(model.tokenizer);
  for (const [token, logit] of known) made.set(token as Token, { logit });
  return made;
}

/** How many token ids the model has. */
export function vocabularySize(model: LlamaModel): number {
  return model.fileInfo.metadata.tokenizer.ggml.tokens.length;
}
