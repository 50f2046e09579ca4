import type { ChatTurn } from './engine.ts';

export type Fit<T> =
  | { readonly fits: true; readonly turns: readonly ChatTurn[]; readonly prompt: T; readonly dropped: number }
  | { readonly fits: false; readonly promptTokens: number };

/** Share of the context that dropping frees at once, so that the cached prefix survives the next few turns. */
const dropStep = 1 / 4;

/**
 * Leaves out the oldest turns until the prompt fits. System turns at the start and the last turn always stay,
 * and what stays begins with a user turn. More is dropped than needed, in steps of a quarter of the budget:
 * the same cut then serves several turns and the KV cache keeps its prefix.
 * @param render makes the prompt; called at most about log2(turns) + 2 times.
 * @param size tokens of a prompt.
 * @param budget most tokens the prompt should have, so that an answer has room.
 * @param limit most tokens it may have when only the system prompt and the last turn are left.
 */
export function fitTurns<T>(
  turns: readonly ChatTurn[],
  render: (turns: readonly ChatTurn[]) => T,
  size: (prompt: T) => number,
  budget: number,
  limit: number,
): Fit<T> {
  const whole = render(turns);
  const excess = size(whole) - budget;
  if (excess <= 0) return { fits: true, turns, prompt: whole, dropped: 0 };

  const firstTurn = turns.findIndex((turn) => turn.role !== 'system');
  const head = turns.slice(0, firstTurn);
  const starts: number[] = [];
  for (let index = firstTurn + 1; index < turns.length; index++) {
    if (turns[index]?.role === 'user') starts.push(index);
  }
  const step = Math.max(1, Math.floor(budget * dropStep));
  const target = budget + excess - Math.ceil(excess / step) * step;

  const attempt = (start: number) => {
    const kept = [...head, ...turns.slice(start)];
    return { kept, prompt: render(kept), dropped: start - firstTurn };
  };
  let best: ReturnType<typeof attempt> | null = null;
  let low = 0;
  let high = starts.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const tried = attempt(starts[middle] ?? turns.length - 1);
    if (size(tried.prompt) <= target) {
      best = tried;
      high = middle - 1;
    } else low = middle + 1;
  }
  best ??= attempt(starts.at(-1) ?? firstTurn);
  if (size(best.prompt) > limit) return { fits: false, promptTokens: size(best.prompt) };
  return { fits: true, turns: best.kept, prompt: best.prompt, dropped: best.dropped };
}
