import type { FlagValues, Sampling } from '../contract/index.ts';

/** What the caller set; where it said nothing, what the flags say; absent where neither does. */
export function withFlagDefaults(asked: Sampling, flags: FlagValues): Sampling {
  const merged = {
    temperature: asked.temperature ?? flags.temperature,
    topP: asked.topP ?? flags['top-p'],
    topK: asked.topK ?? flags['top-k'],
    minP: asked.minP ?? flags['min-p'],
    repeatPenalty: asked.repeatPenalty ?? flags['repeat-penalty'],
    frequencyPenalty: asked.frequencyPenalty ?? null,
    presencePenalty: asked.presencePenalty ?? null,
    seed: asked.seed ?? (flags.seed === 'random' ? null : flags.seed),
    maxTokens: asked.maxTokens ?? (flags['max-tokens'] === 'none' ? null : flags['max-tokens']),
  };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null));
}
