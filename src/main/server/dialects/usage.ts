import type { Timings } from '../../contract/index.ts';

/** OpenAI's count of tokens. */
export function usageOf(timings: Timings) {
  return {
    prompt_tokens: timings.promptTokens,
    completion_tokens: timings.predictedTokens,
    total_tokens: timings.promptTokens + timings.predictedTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens(timings) },
  };
}

/** Tokens of the prompt that the KV cache held already. */
export function cachedTokens(timings: Timings): number {
  return timings.promptTokens - timings.promptTokensEvaluated;
}

/** llama.cpp's names; `prompt_n` counts evaluated tokens only, as there. */
export function llamaTimings(timings: Timings) {
  return {
    cache_n: cachedTokens(timings),
    prompt_n: timings.promptTokensEvaluated,
    prompt_ms: timings.prefillMs,
    predicted_n: timings.predictedTokens,
    predicted_ms: timings.predictedMs,
    predicted_per_second: timings.tokensPerSecond,
  };
}
