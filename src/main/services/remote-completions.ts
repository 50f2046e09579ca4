import { fail, ok, type Result } from '../contract/index.ts';
import type { AnswerPart } from '../engine/index.ts';
import type { Completion, CompletionRequest, CompletionService, Embeddings } from './interfaces.ts';
import type { Remotes } from './remotes.ts';

/** Sends requests that name a remote's model there, and all others to the local engine, which the former leave asleep. */
export class RoutedCompletions implements CompletionService {
  readonly #local: CompletionService;
  readonly #remotes: Pick<Remotes, 'ofRequest' | 'answer' | 'embed'>;

  constructor(local: CompletionService, remotes: Pick<Remotes, 'ofRequest' | 'answer' | 'embed'>) {
    this.#local = local;
    this.#remotes = remotes;
  }

  complete(
    request: CompletionRequest,
    onPart: (part: AnswerPart) => void,
    signal: AbortSignal,
  ): Promise<Result<Completion>> {
    const target = this.#remotes.ofRequest(request.model);
    if (target === null) return this.#local.complete(request, onPart, signal);
    const { prompt, sampling, stop, logitBias, output, tools } = request;
    return this.#remotes.answer(target, { prompt, sampling, stop, logitBias, output, tools }, onPart, signal);
  }

  countTokens(request: Pick<CompletionRequest, 'prompt' | 'tools' | 'model'>): Promise<Result<number>> {
    if (this.#remotes.ofRequest(request.model) === null) return this.#local.countTokens(request);
    const message = 'A remote engine has no common way to count tokens.';
    return Promise.resolve(fail('remote_refused', message, 'Its answers tell how many the prompt took.'));
  }

  async embed(
    request: { readonly inputs: readonly (string | readonly number[])[]; readonly model: string | null },
    signal: AbortSignal,
  ): Promise<Result<Embeddings>> {
    const target = this.#remotes.ofRequest(request.model);
    if (target === null) return this.#local.embed(request, signal);
    const result = await this.#remotes.embed(target, request.inputs, signal);
    return result.ok ? ok({ ...result.data, vectors: result.data.vectors.map(unitLength) }) : result;
  }

  retryAfterSeconds(): number {
    return this.#local.retryAfterSeconds();
  }
}

/** Servers differ in whether they normalise; callers of ours are promised that. */
function unitLength(vector: readonly number[]): readonly number[] {
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((value) => value / length);
}
