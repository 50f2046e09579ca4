import { fileURLToPath } from 'node:url';
import { silentLogger } from '../../src/main/base/index.ts';
import type { Result, Timings } from '../../src/main/contract/index.ts';
import {
  addonPath,
  LlamaEngine,
  loadExpertPoolAddon,
  type ChatTurn,
  type Engine,
  type GenerateOutcome,
  type GenerateRequest,
  type LoadRequest,
} from '../../src/main/engine/index.ts';

/** The built-in model, as it lies in the repository. */
export const builtinPath = fileURLToPath(new URL('../../assets/models/dormouse-mini.gguf', import.meta.url));

export const builtinLoad: LoadRequest = {
  path: builtinPath,
  builtin: true,
  contextSize: 'auto',
  batchSize: 512,
  threads: 1,
  gpu: 'off',
  gpuLayers: 0,
  gpuDevice: null,
  cpuMoe: false,
  nCpuMoe: 'auto',
  kvType: 'f16',
  flashAttention: 'auto',
  mmap: true,
  mlock: false,
  sequences: 1,
  chatFormat: 'auto',
  pool: { on: true, threads: 'auto', affinity: 'off', spinMs: 20 },
};

/** With the pool where it is built; tests that need it say so themselves. */
export function createEngine(): LlamaEngine {
  const addon = loadExpertPoolAddon(addonPath(fileURLToPath(new URL('../..', import.meta.url))));
  return new LlamaEngine({
    logger: silentLogger,
    middleware: addon.ok ? addon.middleware : { missing: addon.error.message },
  });
}

export function unwrap<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`);
  return result.data;
}

export type Answer = {
  readonly text: string;
  readonly thought: string;
  readonly outcome: GenerateOutcome;
  readonly timings: Timings;
};

let lastId = 0;

/** Greedy by default, so that a test sees the same text each time. */
export function requestOf(turns: readonly ChatTurn[] | string, more: Partial<GenerateRequest> = {}): GenerateRequest {
  return {
    id: `generation-${++lastId}`,
    prompt: { kind: 'chat', turns: typeof turns === 'string' ? [{ role: 'user', text: turns }] : turns },
    sampling: { temperature: 0 },
    logitBias: new Map(),
    stop: [],
    output: { kind: 'text' },
    tools: null,
    overflow: 'drop_oldest',
    modelPath: null,
    ...more,
  };
}

/** Runs one generation and gathers its parts. */
export async function ask(
  engine: Engine,
  turns: readonly ChatTurn[] | string,
  more: Partial<GenerateRequest> = {},
): Promise<Answer> {
  const request = requestOf(turns, more);
  let text = '';
  let thought = '';
  const off = engine.on((event) => {
    if (event.type !== 'part' || event.generationId !== request.id) return;
    if (event.part.kind === 'text') text += event.part.text;
    else if (event.part.kind === 'thought') thought += event.part.text;
  });
  try {
    const outcome = unwrap(await engine.generate(request));
    return { text, thought, outcome, timings: outcome.timings };
  } finally {
    off();
  }
}
