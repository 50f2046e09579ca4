import { expect, it } from 'vitest';
import { killRounds } from '../support/kill-rounds.ts';

it(
  'a kill at any moment loses no message that was acknowledged and leaves every log readable',
  { timeout: 180_000 },
  async ({ annotate }) => {
    // `npm run soak` does 200 rounds.
    const report = await killRounds(12, 2026);
    await annotate(`${report.rounds} kills, ${report.sends} messages acknowledged, ${report.answersCut} answers cut`);
    expect(report.sends).toBeGreaterThan(10);
    expect(report.answersCut).toBeGreaterThan(2);
  },
);
