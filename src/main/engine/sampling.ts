import type { Sampling } from '../contract/index.ts';

/** Sampling values for one answer, nothing left open. */
export type FullSampling = { readonly [K in Exclude<keyof Sampling, 'maxTokens'>]-?: number } & {
  readonly maxTokens: number | null;
};

/** Used where neither caller nor model card says anything. */
const fallback = { temperature: 0.7, topP: 0.95, topK: 40, minP: 0.05, repeatPenalty: 1 };

/** The built-in demo model answers well only close to what it learned (its card: temperature 0 to 0.3). */
export const builtinSampling: Sampling = { temperature: 0.2 };

/**
 * @param asked what the caller set, flags included.
 * @param card what the model recommends.
 * @param randomSeed used when none was asked for, 0..2^32-1.
 */
export function fullSampling(asked: Sampling, card: Sampling, randomSeed: () => number): FullSampling {
  return {
    temperature: asked.temperature ?? card.temperature ?? fallback.temperature,
    topP: asked.topP ?? card.topP ?? fallback.topP,
    topK: asked.topK ?? card.topK ?? fallback.topK,
    minP: asked.minP ?? card.minP ?? fallback.minP,
    repeatPenalty: asked.repeatPenalty ?? card.repeatPenalty ?? fallback.repeatPenalty,
    frequencyPenalty: asked.frequencyPenalty ?? card.frequencyPenalty ?? 0,
    presencePenalty: asked.presencePenalty ?? card.presencePenalty ?? 0,
    seed: asked.seed ?? randomSeed(),
    maxTokens: asked.maxTokens ?? null,
  };
}
