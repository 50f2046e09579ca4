import process from 'node:process';
import { killRounds } from './kill-rounds.ts';

/** Entry of `npm run soak`: kills the app again and again. Arguments: rounds, seed. */
const [rounds, seed] = [Number(process.argv[2]), Number(process.argv[3])];
const report = await killRounds(rounds, seed);
process.stdout.write(
  `${report.rounds} kills (seed ${seed}): ${report.sends} messages acknowledged, none lost; ${report.answersCut} cut answers kept.\n`,
);
