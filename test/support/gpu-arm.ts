/**
 * One process that works on a graphics card: drivers may crash, and ggml is of one process. Its argument is a
 * `GpuArmOptions`; the last line it prints is a `GpuArmResult` as JSON.
 */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { getLlama, LlamaLogLevel, type Llama, type LlamaContextSequence, type LlamaModel } from 'node-llama-cpp';
import type { Token } from 'node-llama-cpp';
import { addonPath, loadExpertPoolAddon, type LoadRequest, type PoolMiddleware } from '../../src/main/engine/index.ts';
import { ask, builtinLoad, createEngine, requestOf, unwrap } from './engine.ts';
import type { GpuArmOptions, GpuArmResult } from './gpu-arm-types.ts';

const options = JSON.parse(process.argv[2] ?? '{}') as GpuArmOptions;
let splits: string | undefined;

function middleware(): PoolMiddleware {
  const addon = loadExpertPoolAddon(addonPath(fileURLToPath(new URL('../..', import.meta.url))));
  if (!addon.ok) throw new Error(addon.error.message);
  return addon.middleware;
}

const startLlama = (): Promise<Llama> =>
  getLlama({
    gpu: options.gpu,
    build: 'never',
    logLevel: LlamaLogLevel.info,
    logger: (_level, message) => (splits = /graph splits = .*/.exec(message)?.[0] ?? splits),
  });

/** Loads with the experts of `expertLayers` layers in RAM, as the engine does. */
async function load(llama: Llama, pool: PoolMiddleware, expertLayers: number, gpuLayers: number) {
  const { gpu } = llama;
  if (gpu !== false) {
    const { placed, reason } = pool.place({ gpu, expertLayers });
    if (!placed) throw new Error(reason);
  }
  const model = await llama.loadModel({ modelPath: options.model, gpuLayers, ignoreMemorySafetyChecks: true });
  const { kept } = pool.devices({ gpu });
  if (gpu !== false) pool.place({ gpu, expertLayers: 0 });
  return { model, kept };
}

const createContext = (model: LlamaModel, batchSize: number) =>
  model.createContext({ contextSize: 1024, batchSize, threads: 2, ignoreMemorySafetyChecks: true });

function textOf(count: number): Token[] {
  return Array.from({ length: count }, (_, index) => ((index * 37 + 11) % options.teacherIds) as Token);
}

/** Log-probabilities after each token of a fixed text, fed in batches. */
async function teach(sequence: LlamaContextSequence): Promise<number[][]> {
  const text = textOf(options.count);
  const rows: number[][] = [];
  for (let at = 0; at < text.length; at += options.batch) {
    const answers = await sequence.controlledEvaluate(
      text
        .slice(at, at + options.batch)
        .map((token) => [
          token,
          { generateNext: { probabilities: true, options: { temperature: 1, topK: 0, topP: 1, minP: 0 } } },
        ]),
    );
    for (const answer of answers) {
      const row: number[] = [];
      for (const [token, probability] of answer?.next.probabilities ?? [])
        row[token] = Math.log(Math.max(probability, 1e-12));
      rows.push(row);
    }
  }
  return rows;
}

async function greedy(model: LlamaModel, sequence: LlamaContextSequence, prompt: string, count: number) {
  const tokens: Token[] = [];
  await sequence.clearHistory();
  for await (const token of sequence.evaluate(model.tokenize(prompt), { temperature: 0 })) {
    tokens.push(token);
    if (tokens.length >= count) break;
  }
  return model.detokenize(tokens, true);
}

/** Bytes of the model's file in this process's memory map; 0 where the system does not tell. */
function mappedBytes(): number {
  if (!existsSync('/proc/self/maps')) return 0;
  return readFileSync('/proc/self/maps', 'utf8')
    .split('\n')
    .filter((line) => line.endsWith(options.model))
    .reduce((sum, line) => {
      const [from = '0', to = '0'] = (line.split(' ')[0] ?? '').split('-');
      return sum + Number.parseInt(to, 16) - Number.parseInt(from, 16);
    }, 0);
}

async function factsOf(llama: Llama, model: LlamaModel, kept: GpuArmResult['kept']): Promise<GpuArmResult> {
  const devices = await llama.getGpuDeviceNames();
  return { backend: llama.gpu, devices, memory: model.memoryUsage, kept, mappedBytes: mappedBytes() };
}

async function teachOrSpeed(llama: Llama, pool: PoolMiddleware): Promise<GpuArmResult> {
  const { model, kept } = await load(llama, pool, options.expertLayers, options.gpuLayers);
  const facts = await factsOf(llama, model, kept);
  const context = await createContext(model, options.batch);
  const sequence = context.getSequence();
  if (options.scenario === 'speed') return { ...facts, ...(await speed(sequence)), ...heard() };
  const logits = await teach(sequence);
  const before = pool.stats().graphs;
  await sequence.evaluateWithoutGeneratingNewTokens([textOf(1)[0] as Token]);
  return { ...facts, logits, cpuGraphsPerToken: pool.stats().graphs - before, ...heard() };
}

function heard() {
  return splits === undefined ? {} : { splits };
}

async function speed(sequence: LlamaContextSequence) {
  const text = textOf(options.count);
  // Once to warm up: a driver compiles its programs at first use.
  await sequence.evaluateWithoutGeneratingNewTokens(text.slice(0, options.batch));
  await sequence.clearHistory();
  const started = performance.now();
  for (let at = 0; at < text.length; at += options.batch)
    await sequence.evaluateWithoutGeneratingNewTokens(text.slice(at, at + options.batch));
  const prefilled = performance.now();
  const decoded = 32;
  for (const token of textOf(decoded)) await sequence.evaluateWithoutGeneratingNewTokens([token]);
  const ended = performance.now();
  return {
    prefillTokensPerSecond: (text.length / (prefilled - started)) * 1000,
    decodeTokensPerSecond: (decoded / (ended - prefilled)) * 1000,
  };
}

/** A model whose experts are in device memory answers before, during and after a load that keeps experts in RAM. */
async function second(llama: Llama, pool: PoolMiddleware): Promise<GpuArmResult> {
  const first = await load(llama, pool, 0, options.gpuLayers);
  const sequence = (await createContext(first.model, options.batch)).getSequence();
  const firstMemory = [first.model.memoryUsage.vram];
  const answers = [await greedy(first.model, sequence, 'The cat', 8)];
  const during: Promise<string>[] = [];
  const loading = load(llama, pool, options.expertLayers, options.gpuLayers);
  during.push(greedy(first.model, sequence, 'The cat', 8));
  const other = await loading;
  answers.push(...(await Promise.all(during)));
  answers.push(await greedy(first.model, sequence, 'The cat', 8));
  firstMemory.push(first.model.memoryUsage.vram);
  return { ...(await factsOf(llama, other.model, other.kept)), answers, firstMemory };
}

/** The app's engine: loads, answers, stops and unloads, round by round. */
async function engineRounds(): Promise<GpuArmResult> {
  const engine = createEngine();
  const gpu = options.gpu === false ? 'off' : options.gpu;
  const request: LoadRequest = {
    ...builtinLoad,
    path: options.model,
    builtin: options.model === builtinLoad.path,
    gpu,
    gpuLayers: options.gpuLayers,
    nCpuMoe: options.expertLayers,
    batchSize: options.batch,
    threads: 2,
    pool: { on: true, threads: 2, affinity: 'off', spinMs: 5 },
  };
  const answers: string[] = [];
  const statuses: unknown[] = [];
  for (let round = 0; round < options.count; round++) {
    unwrap(await engine.load(request));
    statuses.push(engine.status());
    answers.push((await ask(engine, 'What is 8 plus 6, please?')).text);
    if (options.scenario === 'engine' && round === 0) answers.push(await stopped(engine));
    unwrap(await engine.unload());
  }
  await engine.close();
  const nothing = { ram: 0, vram: 0 };
  const kept = { tensors: 0, layers: 0, bytes: 0 };
  return { backend: gpu, devices: [], memory: nothing, kept, mappedBytes: 0, answers, statuses };
}

/** Stops in the middle of an answer, then asks again. */
async function stopped(engine: ReturnType<typeof createEngine>): Promise<string> {
  const request = requestOf('Tell me a story about a fox', { sampling: { temperature: 0 } });
  const off = engine.on((event) => {
    if (event.type === 'part' && event.generationId === request.id) engine.stop(request.id);
  });
  const outcome = unwrap(await engine.generate(request));
  off();
  return `${outcome.stopReason}, then ${(await ask(engine, 'What is 8 plus 6, please?')).text}`;
}

async function main(): Promise<GpuArmResult> {
  if (options.scenario === 'engine' || options.scenario === 'rounds') return engineRounds();
  const pool = middleware();
  const llama = await startLlama();
  const installed = pool.install({ gpu: llama.gpu, threads: 2, affinity: 'off', spinMs: 2, govern: true });
  if (!installed.installed) throw new Error(installed.reason);
  return options.scenario === 'second' ? second(llama, pool) : teachOrSpeed(llama, pool);
}

const result = await main();
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
