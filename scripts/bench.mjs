// `npm run bench`: load, prefill and decode of the built-in model with stock node-llama-cpp, one thread against all
// physical cores. Runs are interleaved and compared pair by pair. `-- --pairs N` and `-- --json FILE`.
// `-- --pool` measures the expert pool alone, without a model (`--rounds N`).
import './lib/check-node.mjs';
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { Failure, runMain } from './lib/failure.mjs';
import { root } from './lib/paths.mjs';
import { poolBench } from './lib/pool-bench.mjs';
import { median, quartiles, spread } from './lib/statistics.mjs';
import { prepareOrFail } from './prepare.mjs';

const modelPath = join(root, 'assets', 'models', 'dormouse-mini.gguf');
const prefillTokens = 448;
const decodeTokens = 128;
/** Two threads on a busy machine can be hundreds of times slower: a run is cut off and what it did is counted. */
const runLimitMs = 20_000;
const rowNames = { load: 's', prefill: 'tok/s', decode: 'tok/s' };

await runMain(async () => {
  const { pairs, rounds, json, pool } = readArguments(process.argv.slice(2));
  await prepareOrFail({ build: false });
  if (pool) {
    const result = await poolBench({ rounds });
    if (json) writeFileSync(json, `${JSON.stringify(result, null, 2)}\n`);
    return 0;
  }
  const { getLlama, LlamaLogLevel } = await import('node-llama-cpp');
  const llama = await getLlama({ gpu: false, build: 'never', logLevel: LlamaLogLevel.error });
  try {
    const arms = [...new Set([1, llama.cpuMathCores])].map((threads) => ({
      name: threads === 1 ? '1 thread' : `${threads} threads`,
      threads,
      values: { load: [], prefill: [], decode: [] },
    }));
    const machine = `${cpus()[0]?.model ?? 'unknown CPU'}, ${cpus().length} logical cores, ${process.platform}`;
    console.log(`${machine}\nbuilt-in model, stock node-llama-cpp on the CPU, ${pairs} runs of each, taking turns\n`);
    for (const arm of arms) await measure(llama, arm.threads);
    for (let pair = 0; pair < pairs; pair++) {
      for (const arm of pair % 2 === 0 ? arms : [...arms].reverse()) {
        const result = await measure(llama, arm.threads);
        for (const row of Object.keys(rowNames)) arm.values[row].push(result[row]);
      }
    }
    const rows = Object.keys(rowNames).map((row) => rowOf(row, arms));
    for (const row of rows) print(row);
    if (json) writeFileSync(json, `${JSON.stringify({ machine, threads: llama.cpuMathCores, rows }, null, 2)}\n`);
    return 0;
  } finally {
    await llama.dispose();
  }
});

function readArguments(args) {
  const value = (name) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined);
  const count = (name, otherwise) => {
    const number = Number(value(name) ?? otherwise);
    if (!Number.isInteger(number) || number < 1) throw new Failure(`${name}: expected a whole number from 1`);
    return number;
  };
  return {
    pairs: count('--pairs', 9),
    rounds: count('--rounds', 3),
    json: value('--json'),
    pool: args.includes('--pool'),
  };
}

/** One load, one prefill and one decode, each timed by wall clock. */
async function measure(llama, threads) {
  const before = performance.now();
  const model = await llama.loadModel({ modelPath, gpuLayers: 0 });
  const context = await model.createContext({ contextSize: 1024, batchSize: 512, threads });
  const load = (performance.now() - before) / 1000;
  const sequence = context.getSequence();

  const text = 'A dormouse sleeps through the winter and wakes when it is warm. '.repeat(60);
  const prompt = model.tokenize(text).slice(0, prefillTokens);
  const prefillStart = performance.now();
  await sequence.evaluateWithoutGeneratingNewTokens(prompt);
  const prefill = (prompt.length / (performance.now() - prefillStart)) * 1000;

  await sequence.clearHistory();
  const question = '<|im_start|>user\nTell me a story about a fox<|im_end|>\n<|im_start|>assistant\n';
  const decode = await decodeSpeed(sequence, model.tokenize(question, true));
  await context.dispose();
  await model.dispose();
  return { load, prefill, decode };
}

/** Tokens per second after the first one. */
async function decodeSpeed(sequence, prompt) {
  let count = 0;
  let first = 0;
  for await (const _token of sequence.evaluate(prompt, { temperature: 0, yieldEogToken: true })) {
    if (count === 0) first = performance.now();
    count++;
    if (count > decodeTokens || performance.now() - first > runLimitMs) break;
  }
  return ((count - 1) / (performance.now() - first)) * 1000;
}

function rowOf(row, arms) {
  const [one, all] = arms;
  const ratios = all ? all.values[row].map((value, index) => value / one.values[row][index]) : [];
  return {
    row,
    model: 'builtin',
    unit: rowNames[row],
    arms: Object.fromEntries(
      arms.map(({ name, values }) => [name, { median: median(values[row]), values: values[row] }]),
    ),
    ratio: all ? { [`${all.name}/${one.name}`]: median(ratios) } : {},
    quartiles: all ? quartiles(ratios) : [],
    aa: Math.max(...arms.map(({ values }) => spread(values[row]))),
  };
}

function print({ row, unit, arms, ratio, quartiles: quarters, aa }) {
  const number = (value) => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));
  const values = Object.entries(arms).map(([name, arm]) => `${name} ${number(arm.median)} ${unit}`);
  console.log(`${row.padEnd(8)} ${values.join(' | ')}`);
  for (const [pair, value] of Object.entries(ratio)) {
    const verdict = Math.abs(value - 1) <= aa ? 'no difference beyond the spread' : `${value > 1 ? 'more' : 'less'}`;
    const range = quarters.map((quarter) => quarter.toFixed(2)).join(' / ');
    console.log(
      `         ${pair}: quartiles ${range}, same arm twice differs by ${(aa * 100).toFixed(0)} %: ${verdict}`,
    );
  }
}
