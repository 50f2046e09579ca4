import { Emitter } from '../base/index.ts';
import { ok, type Result } from '../contract/index.ts';
import type { EngineEvent, GenerateOutcome, GenerateRequest } from '../engine/index.ts';
import type { Remotes } from './remotes.ts';
import type { ChatEngine } from './request-gate.ts';

/** The engine as a chat sees it: answers of conversations with a remote model come from there, the local one sleeps on. */
export class RoutedEngine implements ChatEngine {
  readonly #local: ChatEngine;
  readonly #remotes: Pick<Remotes, 'ofOption' | 'answer'>;
  readonly #events = new Emitter<EngineEvent>();
  readonly #running = new Map<string, AbortController>();

  constructor(local: ChatEngine, remotes: Pick<Remotes, 'ofOption' | 'answer'>) {
    this.#local = local;
    this.#remotes = remotes;
  }

  status() {
    return this.#local.status();
  }

  on(listener: (event: EngineEvent) => void): () => void {
    const ends = [this.#local.on(listener), this.#events.on(listener)];
    return () => {
      for (const end of ends) end();
    };
  }

  generate(request: GenerateRequest): Promise<Result<GenerateOutcome>> {
    const target = this.#remotes.ofOption(request.modelPath);
    if (target === null) return this.#local.generate(request);
    return target.ok ? this.#answer(target.data, request) : Promise.resolve(target);
  }

  stop(id: string): boolean {
    const running = this.#running.get(id);
    running?.abort();
    return running !== undefined || this.#local.stop(id);
  }

  async #answer(
    target: Parameters<Remotes['answer']>[0],
    { id, ...request }: GenerateRequest,
  ): Promise<Result<GenerateOutcome>> {
    const stopped = new AbortController();
    this.#running.set(id, stopped);
    const result = await this.#remotes
      .answer(
        target,
        request,
        (part) => {
          if (part.kind !== 'tool_call') this.#events.emit({ type: 'part', generationId: id, part });
        },
        stopped.signal,
      )
      .finally(() => this.#running.delete(id));
    if (!result.ok) return result;
    const { end, timings } = result.data;
    return ok({ stopReason: end, timings });
  }
}
