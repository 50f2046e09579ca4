import { ok, type FlagValues, type Result, type StreamPart } from '../contract/index.ts';
import type { Completion, CompletionRequest, CompletionService } from './interfaces.ts';
import type { AnsweringEngine } from './request-gate.ts';
import { withFlagDefaults } from './sampling.ts';

export type EngineCompletionsDependencies = {
  readonly engine: AnsweringEngine;
  readonly flags: FlagValues;
  /** Makes ids that are unique in this process. */
  readonly createId: () => string;
};

/** Stateless answers straight from the engine. */
export class EngineCompletions implements CompletionService {
  readonly #engine: AnsweringEngine;
  readonly #flags: FlagValues;
  readonly #createId: () => string;

  constructor({ engine, flags, createId }: EngineCompletionsDependencies) {
    this.#engine = engine;
    this.#flags = flags;
    this.#createId = createId;
  }

  async complete(
    request: CompletionRequest,
    onPart: (part: StreamPart) => void,
    signal: AbortSignal,
  ): Promise<Result<Completion>> {
    const id = this.#createId();
    let text = '';
    let thought = '';
    const off = this.#engine.on((event) => {
      if (event.type !== 'part' || event.generationId !== id) return;
      if (event.part.kind === 'thought') thought += event.part.text;
      else text += event.part.text;
      onPart(event.part);
    });
    const stop = () => this.#engine.stop(id);
    signal.addEventListener('abort', stop);
    try {
      const sampling = withFlagDefaults(request.sampling, this.#flags);
      const running = this.#engine.generate({
        id,
        turns: request.turns,
        sampling,
        stop: request.stop,
        overflow: 'refuse',
        modelPath: null,
      });
      if (signal.aborted) stop();
      const result = await running;
      return result.ok ? ok({ text, thought, ...result.data }) : result;
    } finally {
      signal.removeEventListener('abort', stop);
      off();
    }
  }
}
