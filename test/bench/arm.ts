/**
 * One process of `npm run bench`: one arm, one model, some tasks. Its argument is a `BenchRequest`; the last line it
 * prints is a `BenchResult`.
 */
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import process from 'node:process';
import { getLlama, LlamaLogLevel } from 'node-llama-cpp';
import type { Llama, LlamaContextSequence, LlamaModel, Token } from 'node-llama-cpp';
import type { BenchAddon, BenchArm, BenchRequest, BenchResult } from './arm-types.ts';
import { greedyStep } from '../support/greedy-step.ts';
import { withBusySession } from './busy-session.ts';

const options = JSON.parse(process.argv[2] ?? '{}') as BenchRequest;
const wants = new Set(options.tasks);
const values: Record<string, number> = {};
/** As the source system's table has them; `maths` and `code` in tokens. */
const prompts = {
  writing: { tokens: 32, text: 'Tell me a story about a fox who lives in a wood and meets a small owl. ' },
  maths: {
    tokens: 384,
    text: 'If a train goes 30 miles in 40 minutes, how far does it go in 2 hours and 10 minutes? ',
  },
  code: { tokens: 2298, text: 'for (let index = 0; index < list.length; index++) { sum += list[index] * weight; }\n' },
};
const settleMs = 100;

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const secondsSince = (start: number) => (performance.now() - start) / 1000;

function spinMs(arm: Exclude<BenchArm, 'stock'>): number | 'always' {
  switch (arm) {
    case 'always':
      return 'always';
    case 'plain':
    case '20ms':
      return 20;
    case '2ms':
      return 2;
    case '0.1ms':
      return 0.1;
    case '0':
      return 0;
  }
}

async function loadModel(llama: Llama): Promise<LlamaModel> {
  if (options.arm === 'stock') return llama.loadModel({ modelPath: options.model, gpuLayers: 0 });
  const addon = createRequire(import.meta.url)(options.addon) as BenchAddon;
  const { installed, reason } = addon.install({
    gpu: llama.gpu,
    threads: options.threads,
    affinity: 'auto',
    spinMs: spinMs(options.arm),
    // Else others' work could change how sums round, and with that the ids.
    govern: !wants.has('output'),
  });
  if (!installed) throw new Error(reason);
  const model = await llama.loadModel({ modelPath: options.model, gpuLayers: 0 });
  // The plain layout of the weights stays when the pool goes.
  if (options.arm === 'plain' && !addon.uninstall()) throw new Error('The pool does not end.');
  return model;
}

/** One decode step: evaluates `token` and takes the likeliest next one, also beyond an end of turn. */
async function step(sequence: LlamaContextSequence, token: Token): Promise<Token> {
  const [answer] = await sequence.controlledEvaluate([
    [token, { generateNext: { token: true, options: { temperature: 0 } } }],
  ]);
  const next = answer?.next.token;
  if (next === undefined || next === null) throw new Error('no token');
  return next;
}

function promptTokens(model: LlamaModel, name: keyof typeof prompts): Token[] {
  const { tokens, text } = prompts[name];
  return model.tokenize(text.repeat(Math.ceil(tokens / 4))).slice(0, tokens);
}

/** Seconds for all but the last token of a prompt, and the token after it. */
async function feed(
  sequence: LlamaContextSequence,
  tokens: readonly Token[],
): Promise<{ seconds: number; next: Token }> {
  await sequence.clearHistory();
  const start = performance.now();
  await sequence.evaluateWithoutGeneratingNewTokens(tokens.slice(0, -1));
  const seconds = secondsSince(start);
  return { seconds, next: await step(sequence, tokens.at(-1) as Token) };
}

/** Tokens per second, of as many as fit into the time; below one token, the most that it can have been. */
async function decodeSpeed(
  sequence: LlamaContextSequence,
  first: Token,
  count: number,
  limitMs: number,
): Promise<number> {
  const start = performance.now();
  let next = first;
  let done = 0;
  let doneMs = 0;
  while (done < count && performance.now() - start < limitMs) {
    next = await step(sequence, next);
    const now = performance.now() - start;
    if (now > limitMs) break;
    done++;
    doneMs = now;
  }
  const seconds = (done === count ? doneMs : Math.max(limitMs, doneMs)) / 1000;
  return Math.max(done, 1) / seconds;
}

async function idle(row: string): Promise<void> {
  await sleep(settleMs);
  const start = performance.now();
  const before = process.cpuUsage();
  await sleep(options.idleMs);
  const { user, system } = process.cpuUsage(before);
  values[row] = (user + system) / 1e6 / secondsSince(start);
}

async function decodeAt(model: LlamaModel, sequence: LlamaContextSequence, name: keyof typeof prompts): Promise<void> {
  if (prompts[name].tokens + options.decodeTokens > options.contextSize) return;
  const { seconds, next } = await feed(sequence, promptTokens(model, name));
  if (name === 'code') values['prefill'] = (prompts[name].tokens - 1) / seconds;
  if (!wants.has('decode')) return;
  values[`decode, ${name}`] = await decodeSpeed(sequence, next, options.decodeTokens, options.limitMs);
}

/** The first step after a pause, in milliseconds. */
async function wake(model: LlamaModel, sequence: LlamaContextSequence): Promise<void> {
  let { next } = await feed(sequence, promptTokens(model, 'writing'));
  for (const { gapMs, name, count } of options.wakes) {
    const times: number[] = [];
    for (let index = 0; index < count; index++) {
      if (gapMs > 0) await sleep(gapMs);
      const start = performance.now();
      next = await step(sequence, next);
      times.push(performance.now() - start);
    }
    times.sort((a, b) => a - b);
    const at = (share: number) => times[Math.ceil(times.length * share) - 1] ?? Number.NaN;
    values[`wake after ${name}, p50`] = at(0.5);
    values[`wake after ${name}, p99`] = at(0.99);
  }
}

async function busy(model: LlamaModel, sequence: LlamaContextSequence): Promise<void> {
  const { next } = await feed(sequence, promptTokens(model, 'writing'));
  values['decode, busy machine'] = await withBusySession(options.busyThreads, options.busyMs, () =>
    decodeSpeed(sequence, next, options.decodeTokens, options.busyMs),
  );
}

/** Prompt fed token by token: only then is decode of the same bits with and without the pool. */
async function output(
  model: LlamaModel,
  sequence: LlamaContextSequence,
): Promise<{ readonly ids: number[]; readonly hash: string }> {
  await sequence.clearHistory();
  const tokens = promptTokens(model, 'writing');
  for (const token of tokens.slice(0, -1)) await sequence.evaluateWithoutGeneratingNewTokens([token]);
  const ids: number[] = [];
  const hash = createHash('sha256');
  let next = tokens.at(-1) as Token;
  for (let index = 0; index < options.outputTokens; index++) {
    next = await greedyStep(sequence, next, hash);
    ids.push(next);
  }
  return { ids, hash: hash.digest('hex') };
}

async function main(): Promise<BenchResult> {
  const llama = await getLlama({ gpu: false, build: 'never', logLevel: LlamaLogLevel.error, logger: () => {} });
  const start = performance.now();
  const model = await loadModel(llama);
  const { contextSize, threads } = options;
  const context = await model.createContext({ contextSize, batchSize: 512, threads });
  if (wants.has('load')) values['load'] = secondsSince(start);
  const sequence = context.getSequence();
  if (wants.has('idle')) await idle('idle before requests');
  const asked = performance.now();
  await feed(sequence, promptTokens(model, 'writing'));
  // Weights that stay in the file are read now, and not while loading.
  if (wants.has('load')) values['load and first token'] = (values['load'] ?? 0) + secondsSince(asked);
  if (wants.has('output')) return { values, ...(await output(model, sequence)) };
  if (wants.has('decode')) {
    await decodeAt(model, sequence, 'writing');
    await decodeAt(model, sequence, 'maths');
  }
  if (wants.has('prefill')) await decodeAt(model, sequence, 'code');
  if (wants.has('wake')) await wake(model, sequence);
  if (wants.has('busy')) await busy(model, sequence);
  if (wants.has('idle')) {
    let { next } = await feed(sequence, promptTokens(model, 'writing'));
    for (let index = 0; index < 16; index++) next = await step(sequence, next);
    await idle('idle after requests');
  }
  return { values };
}

const result = await main();
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
