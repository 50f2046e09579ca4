import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChatTurn } from '../../../src/main/engine/index.ts';
import { fitTurns } from '../../../src/main/engine/fit-turns.ts';

const system: ChatTurn = { role: 'system', text: 'sss' };
/** A prompt is the turns themselves; its size the sum of their lengths. */
const size = (turns: readonly ChatTurn[]) => turns.reduce((sum, turn) => sum + turn.text.length, 0);
const fit = (turns: readonly ChatTurn[], budget: number, limit = budget) =>
  fitTurns(turns, (kept) => kept, size, budget, limit);
const chat = (rounds: number, length = 10): ChatTurn[] => [
  system,
  ...Array.from({ length: rounds }, (): ChatTurn[] => [
    { role: 'user', text: 'u'.repeat(length) },
    { role: 'assistant', text: 'a'.repeat(length) },
  ]).flat(),
  { role: 'user', text: 'last' },
];

describe('fitTurns', () => {
  it('leaves alone what fits', () => {
    const turns = chat(3);
    expect(fit(turns, size(turns))).toMatchObject({ fits: true, dropped: 0, turns });
  });

  it('always keeps the system prompt, the last turn, and begins with a user turn', () => {
    fc.assert(
      fc.property(
        fc.nat(30),
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 10, max: 400 }),
        (rounds, length, budget) => {
          const turns = chat(rounds, length);
          const result = fit(turns, budget);
          if (!result.fits) return;
          expect(size(result.turns)).toBeLessThanOrEqual(budget);
          expect(result.turns[0]).toBe(system);
          expect(result.turns[1]?.role).toBe('user');
          expect(result.turns.at(-1)).toBe(turns.at(-1));
          expect(result.dropped).toBe(turns.length - result.turns.length);
        },
      ),
    );
  });

  it('cuts at the same place while a quarter of the budget fills (each new cut empties the KV cache)', () => {
    const cuts = new Set<number>();
    for (let rounds = 12; rounds < 17; rounds++) {
      const result = fit(chat(rounds), 200);
      if (result.fits) cuts.add(result.dropped);
    }
    expect(cuts.size).toBeLessThanOrEqual(3);
  });

  it('may use the room of the answer when only the last turn is left', () => {
    const turns: ChatTurn[] = [system, { role: 'user', text: 'x'.repeat(90) }];
    expect(fit(turns, 80, 100).fits).toBe(true);
    expect(fit(turns, 80, 90)).toEqual({ fits: false, promptTokens: 93 });
  });

  it('refuses instead of looping when nothing can be dropped', () => {
    expect(fit([system, { role: 'user', text: 'x'.repeat(500) }], 100)).toEqual({ fits: false, promptTokens: 503 });
    expect(fit([{ role: 'assistant', text: 'x'.repeat(500) }], 100).fits).toBe(false);
  });
});
