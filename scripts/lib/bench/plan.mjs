import { Failure } from '../failure.mjs';

export const tasks = ['load', 'idle', 'decode', 'prefill', 'wake', 'busy', 'output'];
export const models = ['q4_k', 'q8_0', 'builtin'];
/** Neighbours are compared with each other: a stock run stands near every arm, and two make the A/A spread. */
const everything = ['stock', '20ms', 'always', '2ms', 'stock', '0.1ms', '0', 'plain'];
const few = ['stock', '20ms', 'always', 'stock'];

const wakes = (counts) =>
  [
    { gapMs: 0, name: '0' },
    { gapMs: 1, name: '1 ms' },
    { gapMs: 50, name: '50 ms' },
    { gapMs: 1_000, name: '1 s' },
  ].map((gap, index) => ({ ...gap, count: counts[index] }));

/** Rounds of each task by model: a round is one run of every arm. */
const scopes = {
  quick: {
    settings: { decodeTokens: 32, limitMs: 3_000, idleMs: 2_000, busyMs: 6_000, outputTokens: 32 },
    wakes: wakes([10, 10, 5, 1]),
    models: {
      q4_k: { arms: few, rounds: { load: 2, decode: 2, prefill: 1, wake: 1, idle: 1, busy: 1, output: 1 } },
      builtin: { arms: few, rounds: { load: 1, decode: 1 } },
    },
  },
  standard: {
    settings: { decodeTokens: 64, limitMs: 20_000, idleMs: 10_000, busyMs: 20_000, outputTokens: 256 },
    wakes: wakes([40, 40, 20, 3]),
    models: {
      q4_k: { arms: everything, rounds: { load: 4, decode: 4, prefill: 1, wake: 1, idle: 1, busy: 1, output: 1 } },
      q8_0: { arms: few, rounds: { load: 2, decode: 2, output: 1 } },
      builtin: { arms: few, rounds: { load: 2, decode: 2, output: 1 } },
    },
  },
  full: {
    settings: { decodeTokens: 128, limitMs: 20_000, idleMs: 10_000, busyMs: 20_000, outputTokens: 256 },
    wakes: wakes([200, 200, 100, 10]),
    models: Object.fromEntries(
      models.map((model) => [
        model,
        { arms: everything, rounds: Object.fromEntries(tasks.map((task) => [task, task === 'output' ? 1 : 9])) },
      ]),
    ),
  },
};

const options = [
  ...['--quick', '--full', '--rows', '--models', '--arms', '--pairs', '--threads', '--json'],
  ...['--monitor', '--seconds', '--pool', '--rounds', '--help'],
];
/** `npm run bench -- --help`. */
export const usage = `npm run bench: the pool inside llama.cpp against stock node-llama-cpp, about 10 minutes
  --quick | --full         2 minutes, or hours: 9 pairs of everything
  --rows R,..              ${tasks.join(', ')}
  --models M,..            ${models.join(', ')}
  --arms A,..              ${[...new Set(everything)].join(', ')}
  --pairs N  --threads N  --json FILE
  --monitor [--seconds N]  what the Monitor costs in a browser
  --pool [--rounds N]      the expert pool alone, without a model`;

/** Arguments of `npm run bench`, checked. @throws Failure with a sentence. */
export function readArguments(args) {
  const wrong = args.find((arg) => arg.startsWith('--') && !options.includes(arg));
  if (wrong !== undefined) throw new Failure(`${wrong}: unknown; there are ${options.join(', ')}`);
  const value = (name) => (args.includes(name) ? (args[args.indexOf(name) + 1] ?? '') : undefined);
  const count = (name, byDefault) => {
    const text = value(name);
    if (text === undefined) return byDefault;
    if (!/^[1-9]\d{0,3}$/.test(text)) throw new Failure(`${name}: expected a whole number from 1`);
    return Number(text);
  };
  const list = (name, allowed) => {
    const chosen = value(name)?.split(',');
    const wrong = chosen?.find((item) => !allowed.includes(item));
    if (wrong !== undefined) throw new Failure(`${name}: "${wrong}" is none of ${allowed.join(', ')}`);
    return chosen;
  };
  const file = value('--json');
  if (file === '' || file?.startsWith('--')) throw new Failure('--json: expected a file');
  return {
    scope: args.includes('--full') ? 'full' : args.includes('--quick') ? 'quick' : 'standard',
    pairs: count('--pairs'),
    threads: count('--threads'),
    rounds: count('--rounds', 3),
    rows: list('--rows', tasks),
    models: list('--models', models),
    arms: list('--arms', [...new Set(everything)]),
    json: file,
    pool: args.includes('--pool'),
    monitor: args.includes('--monitor'),
    seconds: count('--seconds', 60),
  };
}

/** What to run, in order: per model the arms, and how often each task. */
export function makePlan({ scope, pairs, rows, models: chosen, arms }) {
  const { settings, wakes: gaps, models: all } = scopes[scope];
  const pick = (model) => all[model] ?? { arms: few, rounds: { load: 1, decode: 1 } };
  return {
    settings: { ...settings, wakes: gaps },
    models: (chosen ?? Object.keys(all)).map((model) => {
      const { arms: usual, rounds } = pick(model);
      // Rows that are asked for by name run on every chosen model.
      const wanted = rows ? Object.fromEntries(rows.map((row) => [row, rounds[row] ?? 1])) : rounds;
      const repeat = ([task, times]) => [task, task === 'output' ? 1 : (pairs ?? times)];
      return {
        model,
        arms: arms ? [...arms, ...(arms.includes('stock') ? ['stock'] : [])] : usual,
        rounds: Object.fromEntries(Object.entries(wanted).map(repeat)),
      };
    }),
  };
}
