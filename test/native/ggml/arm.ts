/**
 * One process that generates with or without the middleware. Its argument is an `ArmOptions`; it prints one line of
 * JSON. `stock` is node-llama-cpp as it comes, `plain` the same without repacked weights, `pool` the middleware, `nodes`
 * the middleware without FFN units.
 */
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { getLlama, LlamaLogLevel } from 'node-llama-cpp';
import type { Llama, LlamaContext, LlamaContextSequence, LlamaModel, Token } from 'node-llama-cpp';
import { greedyStep } from '../../support/greedy-step.ts';
import type { ArmName, ArmOptions, ArmResult, GgmlAddon } from './arm-types.ts';

const options = JSON.parse(process.argv[2] ?? '{}') as ArmOptions;
const addon = createRequire(import.meta.url)(options.addon) as GgmlAddon;
const prompt = 'The cat runs over the hill and sees a small river. It';

function install(llama: Llama, arm: ArmName): ReturnType<GgmlAddon['install']> {
  return addon.install({
    gpu: llama.gpu,
    threads: options.threads,
    affinity: 'off',
    spinMs: 2,
    govern: false,
    fuse: arm !== 'nodes',
  });
}

async function loadModel(llama: Llama, arm: ArmName): Promise<LlamaModel> {
  if (arm !== 'stock') {
    const { installed, reason } = install(llama, arm);
    if (!installed) throw new Error(reason);
  }
  const model = await llama.loadModel({ modelPath: options.model, gpuLayers: 0 });
  // The plain layout of the weights stays when the pool goes.
  if (arm === 'plain') addon.uninstall();
  return model;
}

const createContext = (model: LlamaModel, sequences = 1): Promise<LlamaContext> =>
  model.createContext({
    contextSize: 512,
    batchSize: 128,
    threads: 2,
    sequences,
    flashAttention: options.flashAttention,
  });

/** Token by token, as the exact comparison wants it. */
async function feed(sequence: LlamaContextSequence, tokens: readonly Token[]): Promise<void> {
  for (const token of tokens) await sequence.evaluateWithoutGeneratingNewTokens([token]);
}

/** Greedy ids, and a hash of every probability of the whole vocabulary, bit by bit. */
async function generate(
  model: LlamaModel,
  sequence: LlamaContextSequence,
  count: number,
): Promise<ArmResult & { readonly hash: string }> {
  const tokens = model.tokenize(prompt);
  await feed(sequence, tokens.slice(0, -1));
  const ids: number[] = [];
  const hash = createHash('sha256');
  let next = tokens.at(-1) as Token;
  for (let index = 0; index < count; index++) {
    next = await greedyStep(sequence, next, hash);
    ids.push(next);
  }
  return { ids, hash: hash.digest('hex'), stats: addon.stats() };
}

/** Log-probabilities of a fixed text fed in one batch. */
async function teach(sequence: LlamaContextSequence): Promise<ArmResult> {
  const tokens = Array.from({ length: 96 }, (_, index) => ((index * 37 + 11) % options.teacherIds) as Token);
  const answers = await sequence.controlledEvaluate(
    tokens.map((token) => [
      token,
      { generateNext: { probabilities: true, options: { temperature: 1, topK: 0, topP: 1, minP: 0 } } },
    ]),
  );
  const logits = answers.map((answer) => {
    const row: number[] = [];
    for (const [token, probability] of answer?.next.probabilities ?? [])
      row[token] = Math.log(Math.max(probability, 1e-12));
    return row;
  });
  return { logits, stats: addon.stats() };
}

async function twoAtOnce(model: LlamaModel): Promise<ArmResult> {
  const contexts = await Promise.all([createContext(model), createContext(model)]);
  const results = await Promise.all(contexts.map((context) => generate(model, context.getSequence(), options.count)));
  for (const context of contexts) await context.dispose();
  return { hashes: results.map((result) => result.hash), stats: addon.stats() };
}

/** Installs, loads, generates, unloads and uninstalls, again and again, with contexts that outlive an uninstall. */
async function rounds(llama: Llama): Promise<ArmResult> {
  const hashes: string[] = [];
  for (let round = 0; round < options.count; round++) {
    install(llama, 'pool');
    install(llama, 'pool');
    const model = await llama.loadModel({ modelPath: options.model, gpuLayers: 0 });
    const context = await createContext(model, 1);
    const sequence = context.getSequence();
    hashes.push((await generate(model, sequence, 8)).hash);
    if (round % 2 === 0) {
      if (!addon.uninstall()) throw new Error('not quiet');
      await sequence.clearHistory();
      hashes.push((await generate(model, sequence, 8)).hash);
    }
    await context.dispose();
    await model.dispose();
    if (!addon.uninstall()) throw new Error('not quiet');
  }
  return { hashes, stats: addon.stats() };
}

/** Stops a long prefill from outside, then goes on with the same sequence. */
async function stop(model: LlamaModel, sequence: LlamaContextSequence): Promise<ArmResult> {
  const tokens = Array.from({ length: 128 }, (_, index) => ((index * 37 + 11) % options.teacherIds) as Token);
  const started = performance.now();
  const whole = sequence.evaluateWithoutGeneratingNewTokens(tokens).then(() => performance.now() - started);
  const prefillMs = await whole;
  const before = sequence.nextTokenIndex;
  const running = sequence.evaluateWithoutGeneratingNewTokens(tokens).then(
    () => false,
    () => true,
  );
  // In the middle: as soon as the pool has computed the first product of this batch.
  const jobs = () => addon.stats().pool?.jobs;
  const done = jobs();
  while (jobs() === done) await new Promise((resolve) => setImmediate(resolve));
  const asked = performance.now();
  addon.requestStop();
  const failed = await running;
  const stopMs = performance.now() - asked;
  const again = await sequence.evaluateWithoutGeneratingNewTokens([tokens[0] as Token]).then(
    () => false,
    () => true,
  );
  addon.clearStop();
  const after = sequence.nextTokenIndex;
  await sequence.clearHistory();
  const { hash } = await generate(model, sequence, 16);
  return { prefillMs, stopMs, failed, failedAgain: again, kept: after === before, hash, stats: addon.stats() };
}

/** Two builds of llama.cpp in one process, each with its own tables. */
async function registries(first: Llama): Promise<ArmResult> {
  const second = await getLlama({
    gpu: 'vulkan',
    build: 'never',
    logLevel: LlamaLogLevel.error,
    logger: () => {},
  }).catch(() => undefined);
  if (second === undefined) return { hashes: [], stats: addon.stats() };
  const unsaid = addon.install({});
  const hashes: string[] = [];
  const units: number[] = [];
  for (const llama of [first, second]) {
    const model = await loadModel(llama, 'pool');
    const before = addon.stats().units;
    hashes.push((await generate(model, (await createContext(model)).getSequence(), 8)).hash);
    units.push(addon.stats().units - before);
  }
  return { hashes, units, answer: unsaid, stats: addon.stats() };
}

async function main(): Promise<ArmResult> {
  const llama = await getLlama({ gpu: false, build: 'never', logLevel: LlamaLogLevel.error, logger: () => {} });
  if (options.scenario === 'refused')
    return { answer: addon.install({ gpu: llama.gpu }), ...(await stockAfterwards(llama)) };
  if (options.scenario === 'rounds') return rounds(llama);
  if (options.scenario === 'registries') return registries(llama);
  const model = await loadModel(llama, options.arm);
  if (options.scenario === 'two') return twoAtOnce(model);
  const sequence = (await createContext(model)).getSequence();
  if (options.scenario === 'teach') return teach(sequence);
  if (options.scenario === 'stop') return stop(model, sequence);
  if (options.scenario === 'exit') {
    void generate(model, sequence, 100_000).catch(() => {});
    setTimeout(() => process.exit(0), 300);
    return { stats: addon.stats() };
  }
  return generate(model, sequence, options.count);
}

async function stockAfterwards(llama: Llama): Promise<ArmResult> {
  const model = await llama.loadModel({ modelPath: options.model, gpuLayers: 0 });
  return generate(model, (await createContext(model)).getSequence(), 8);
}

const result = await main();
process.stdout.write(`${JSON.stringify(result)}\n`, () => {
  if (options.scenario !== 'exit') process.exit(0);
});
