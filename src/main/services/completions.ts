import { fail, ok, type FlagValues, type Result } from '../contract/index.ts';
import type { AnswerPart, Completion, CompletionRequest, CompletionService, Embeddings } from './interfaces.ts';
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
    onPart: (part: AnswerPart) => void,
    signal: AbortSignal,
  ): Promise<Result<Completion>> {
    const { prompt } = request;
    if (prompt.kind === 'text') return fail('invalid_input', 'Only chats are answered.');
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
        turns: prompt.turns,
        sampling,
        stop: request.stop,
        overflow: 'refuse',
        modelPath: null,
      });
      if (signal.aborted) stop();
      const result = await running;
      if (!result.ok) return result;
      const { stopReason, timings } = result.data;
      return ok({ text, thought, toolCalls: [], end: stopReason, timings });
    } finally {
      signal.removeEventListener('abort', stop);
      off();
    }
  }

  countTokens(): Promise<Result<number>> {
    return Promise.resolve(fail('internal', 'Tokens cannot be counted yet.'));
  }

  embed(): Promise<Result<Embeddings>> {
    return Promise.resolve(fail('embedding_unsupported', 'This model makes no embeddings.'));
  }

  retryAfterSeconds(): number {
    return 1;
  }
}
