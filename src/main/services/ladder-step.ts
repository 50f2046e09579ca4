import type { EngineState, LadderStep, SleepStep } from '../contract/index.ts';

/** Without a request for this long the engine is at most `light`, in ms. */
const lightAfterMs = 60_000;

/** All that decides the step. */
export type LadderFacts = {
  readonly engine: EngineState;
  /** What the pool's workers do; null without a pool. */
  readonly sleep: SleepStep | null;
  readonly hasModel: boolean;
  /** A model was taken out of memory by the ladder, and no other has taken its place. */
  readonly hibernated: boolean;
  readonly waking: boolean;
  /** Requests that are answered or wait for their turn. */
  readonly requests: number;
  /** Whether a page is seen. */
  readonly seen: boolean;
  /** Time since the last request ended or a model was loaded, in ms. */
  readonly idleMs: number;
  /** null: never. */
  readonly idleUnloadMs: number | null;
};

export function ladderStep(facts: LadderFacts): LadderStep {
  if (facts.waking) return 'waking';
  if (facts.hibernated && !facts.hasModel) return 'hibernated';
  // llama.cpp's own threads end with each graph, so that without the pool nothing spins between two tokens.
  if (facts.engine === 'prefill' || facts.engine === 'generating') return 'computing';
  if (facts.sleep !== null && facts.sleep !== 'asleep') return facts.sleep;
  return mayRest(facts) && (!facts.seen || facts.idleMs >= lightAfterMs) ? 'light' : 'asleep';
}

/** Whether the model is to leave memory now. Never while somebody waits for it. */
export function shouldHibernate(facts: LadderFacts): boolean {
  return canHibernate(facts) && facts.idleMs >= facts.idleUnloadMs;
}

/** @returns ms until the step changes by time alone; null when it does not. */
export function untilNextStep(facts: LadderFacts): number | null {
  const ends = [
    ...(mayRest(facts) && facts.seen && facts.idleMs < lightAfterMs ? [lightAfterMs] : []),
    ...(canHibernate(facts) ? [facts.idleUnloadMs] : []),
  ].map((end) => Math.max(0, end - facts.idleMs));
  return ends.length === 0 ? null : Math.min(...ends);
}

/** On its way to hibernation the engine goes on resting. */
function mayRest({ requests, engine, hibernated }: LadderFacts): boolean {
  return requests === 0 && engine !== 'loading' && (engine !== 'unloading' || hibernated);
}

function canHibernate(facts: LadderFacts): facts is LadderFacts & { readonly idleUnloadMs: number } {
  return (
    facts.idleUnloadMs !== null &&
    facts.engine === 'ready' &&
    facts.hasModel &&
    facts.requests === 0 &&
    !facts.hibernated &&
    !facts.waking
  );
}
