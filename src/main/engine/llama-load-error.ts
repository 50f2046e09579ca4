import { InsufficientMemoryError } from 'node-llama-cpp';
import { fail, type AppError } from '../contract/index.ts';

/** What llama.cpp's backends say when an allocation fails. */
const outOfGpuMemory = /OutOfDeviceMemory|out of memory|cudaMalloc failed|failed to allocate .*(buffer|memory)/i;

/** Carries an expected failure through the part of a load that throws. */
export class PlacementError extends Error {
  readonly problem: AppError;

  constructor(problem: AppError) {
    super(problem.message);
    this.problem = problem;
  }
}

/**
 * Why a load failed, and what to do.
 * @param complaints what llama.cpp said meanwhile, oldest first. @param onGpu whether a graphics card was to be used.
 */
export function explainLoadError(error: unknown, complaints: readonly string[], onGpu: boolean): AppError {
  if (error instanceof PlacementError) return error.problem;
  const said = complaints.join('\n');
  const architecture = /unknown model architecture: '([^']*)'/.exec(said)?.[1];
  if (architecture !== undefined) {
    return fail(
      'model_unsupported_architecture',
      `This Dormouse cannot run models of the architecture "${architecture}".`,
      'Choose another model, or look for a newer Dormouse.',
    ).error;
  }
  if (/corrupted or incomplete|tensor .* data is not within/.test(said)) {
    return fail('model_truncated', 'The model file is damaged or not complete.', 'Download the file again.').error;
  }
  if (onGpu && outOfGpuMemory.test(said)) {
    return fail(
      'out_of_memory',
      'The graphics card ran out of memory while the model was being loaded.',
      'Close other programs that use the card, or start with --cpu-moe, fewer --gpu-layers or a smaller --context.',
    ).error;
  }
  if (error instanceof InsufficientMemoryError) {
    return fail('out_of_memory', error.message, 'Choose a smaller context or model, or close other programs.').error;
  }
  const reason =
    complaints.findLast((line) => /error|fail/i.test(line)) ?? (error instanceof Error ? error.message : String(error));
  return fail(
    'model_load_failed',
    `The model could not be loaded: ${reason}`,
    'Choose another file; the log has the details.',
  ).error;
}
