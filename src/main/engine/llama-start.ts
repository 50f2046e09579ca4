import { getLlama, LlamaLogLevel, NoBinaryFoundError, type Llama } from 'node-llama-cpp';
import { fail, ok, type GpuBackend, type Result } from '../contract/index.ts';
import {
  explainChoice,
  foreseeProblem,
  gpuCandidates,
  noDevice,
  startProblem,
  type GpuAsked,
  type GpuProblem,
} from './gpu-choice.ts';
import { readGpuSystem, type GpuSystem } from './gpu-system.ts';

export type StartedLlama = {
  readonly llama: Llama;
  readonly asked: GpuAsked;
  /** null: no graphics card computes, whatever build of llama.cpp is loaded. */
  readonly backend: GpuBackend | null;
  readonly reason: string | null;
  readonly hint: string | null;
};

export type LlamaStartDependencies = {
  readonly hear: (level: LlamaLogLevel, message: string) => void;
  readonly readSystem?: () => GpuSystem;
};

/**
 * Starts llama.cpp with the best backend that works here. A second registry in one process is unsafe, so this is done
 * once. A backend that was asked for by name is never replaced by another one in silence.
 * @throws what node-llama-cpp throws, except that it found no build.
 */
export async function startLlama(
  asked: GpuAsked,
  { hear, readSystem = readGpuSystem }: LlamaStartDependencies,
): Promise<Result<StartedLlama>> {
  const system = readSystem();
  const problems: GpuProblem[] = [];
  for (const backend of gpuCandidates(asked, system.platform)) {
    const foreseen = foreseeProblem(backend, system);
    if (foreseen !== null) {
      problems.push(foreseen);
      continue;
    }
    const llama = await tryBackend(backend, hear);
    if (llama === null) {
      problems.push(startProblem(backend, system));
      continue;
    }
    if ((await llama.getGpuDeviceNames()).length > 0) {
      return ok({ llama, asked, backend, ...explainChoice(asked, backend, problems, system) });
    }
    problems.push(noDevice(backend, system));
    // Its build of llama.cpp stays: with no layers on a GPU it computes as the one for CPUs does.
    if (asked === 'auto') return ok({ llama, asked, backend: null, ...explainChoice(asked, null, problems, system) });
    break;
  }
  const problem = problems[0];
  if (asked !== 'auto' && problem !== undefined) {
    return fail('gpu_unavailable', problem.reason, `${problem.hint} Or start with --gpu auto or --gpu off.`);
  }
  const llama = await getLlama({ gpu: false, ...optionsFor(hear) });
  return ok({ llama, asked, backend: null, ...explainChoice(asked, null, problems, system) });
}

async function tryBackend(backend: GpuBackend, hear: LlamaStartDependencies['hear']): Promise<Llama | null> {
  try {
    return await getLlama({ gpu: backend, ...optionsFor(hear) });
  } catch (error) {
    if (error instanceof NoBinaryFoundError) return null;
    throw error;
  }
}

function optionsFor(logger: LlamaStartDependencies['hear']) {
  return { build: 'never', skipDownload: true, progressLogs: false, logLevel: LlamaLogLevel.warn, logger } as const;
}
