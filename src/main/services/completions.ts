import { fail, ok, type FlagValues, type Result } from '../contract/index.ts';
import type {
  AnswerPart,
  Completion,
  CompletionRequest,
  CompletionService,
  Embeddings,
  ModelService,
  ToolCall,
} from './interfaces.ts';
import type { AnsweringEngine } from './request-gate.ts';
import { withFlagDefaults } from './sampling.ts';

/** Answers whose durations tell how long the next ones may take. */
const rememberedDurations = 32;
/** Longest time that a caller is told to wait, in s. */
const longestRetry = 600;

export type EngineCompletionsDependencies = {
  readonly engine: AnsweringEngine;
  readonly models: Pick<ModelService, 'known'>;
  readonly flags: FlagValues;
  /** Makes ids that are unique in this process. */
  readonly createId: () => string;
};

/** Stateless answers straight from the engine. */
export class EngineCompletions implements CompletionService {
  readonly #deps: EngineCompletionsDependencies;
  /** Without the time in the queue, in ms; the latest last. */
  readonly #durations: number[] = [];

  constructor(deps: EngineCompletionsDependencies) {
    this.#deps = deps;
  }

  async complete(
    request: CompletionRequest,
    onPart: (part: AnswerPart) => void,
    signal: AbortSignal,
  ): Promise<Result<Completion>> {
    const { engine, flags } = this.#deps;
    const admitted = this.#admit(request.model);
    if (!admitted.ok) return admitted;
    const { prompt, logitBias, stop, output, tools } = request;
    const gathered = new Gathered();
    const sampling = withFlagDefaults(request.sampling, flags);
    const id = this.#deps.createId();
    const off = engine.on((event) => {
      if (event.type !== 'part' || event.generationId !== id) return;
      gathered.add(event.part);
      onPart(event.part);
    });
    try {
      const rest = { logitBias, stop, output, tools, overflow: 'refuse', modelPath: admitted.data } as const;
      const result = await this.#stoppable(id, signal, () => engine.generate({ id, prompt, sampling, ...rest }));
      if (!result.ok) return result;
      const { stopReason: end, timings } = result.data;
      if (timings.predictedTokens > 0) this.#remember(timings.prefillMs + timings.predictedMs);
      return ok({ ...gathered.answer(), end, timings });
    } finally {
      off();
    }
  }

  async countTokens({ prompt, tools, model }: Pick<CompletionRequest, 'prompt' | 'tools' | 'model'>) {
    const path = this.#pathOf(model);
    return path.ok ? this.#deps.engine.countTokens({ prompt, tools, modelPath: path.data }) : path;
  }

  async embed(
    { inputs, model }: { readonly inputs: readonly (string | readonly number[])[]; readonly model: string | null },
    signal: AbortSignal,
  ): Promise<Result<Embeddings>> {
    const admitted = this.#admit(model);
    if (!admitted.ok) return admitted;
    const id = this.#deps.createId();
    const request = { id, inputs, modelPath: admitted.data };
    return this.#stoppable(id, signal, () => this.#deps.engine.embed(request));
  }

  retryAfterSeconds(): number {
    const { engine, flags } = this.#deps;
    const durations = this.#durations;
    const mean = durations.reduce((sum, one) => sum + one, 0) / Math.max(1, durations.length);
    const rounds = Math.max(1, engine.waiting() / flags.parallel);
    // One turn in the line is enough to get in, but all who were refused come back at the same time.
    return Math.min(longestRetry, Math.max(1, Math.ceil((mean * Math.sqrt(rounds)) / 1000)));
  }

  async #stoppable<T>(id: string, signal: AbortSignal, begin: () => Promise<T>): Promise<T> {
    const stop = () => void this.#deps.engine.stop(id);
    signal.addEventListener('abort', stop);
    try {
      const running = begin();
      if (signal.aborted) stop();
      return await running;
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  /** @returns the path of the model that must answer. */
  #admit(model: string | null): Result<string | null> {
    const { engine, flags } = this.#deps;
    const { queue } = flags;
    if (engine.waiting() >= queue) {
      const message = `${queue} requests are waiting already, as many as may wait (--queue).`;
      return fail('queue_full', message, 'Try again later.');
    }
    return this.#pathOf(model);
  }

  #pathOf(model: string | null): Result<string | null> {
    if (model === null) return ok(null);
    const known = this.#deps.models.known().find(({ id }) => id === model);
    return known === undefined ? fail('model_not_found', `There is no model "${model}" here.`) : ok(known.path);
  }

  #remember(durationMs: number): void {
    this.#durations.push(durationMs);
    if (this.#durations.length > rememberedDurations) this.#durations.shift();
  }
}

/** The pieces of one answer put together. */
class Gathered {
  #text = '';
  #thought = '';
  readonly #calls: ToolCall[] = [];

  add(part: AnswerPart): void {
    switch (part.kind) {
      case 'text':
        this.#text += part.text;
        break;
      case 'thought':
        this.#thought += part.text;
        break;
      case 'tool_call': {
        const { index, id, name, text } = part;
        this.#calls[index] = { id, name, arguments: (this.#calls[index]?.arguments ?? '') + text };
      }
    }
  }

  answer() {
    return { text: this.#text, thought: this.#thought, toolCalls: [...this.#calls] };
  }
}
