import type { CompletionService, ModelService } from '../services/interfaces.ts';
import type { Exchange } from './exchange.ts';

/** Notes with each exchange which model answered it and what that needed, whatever the route that asked. */
export class NotedCompletions implements CompletionService {
  readonly #inner: CompletionService;
  readonly #models: Pick<ModelService, 'status' | 'hibernated'>;
  readonly #exchanges = new WeakMap<AbortSignal, Exchange>();

  constructor(inner: CompletionService, models: Pick<ModelService, 'status' | 'hibernated'>) {
    this.#inner = inner;
    this.#models = models;
  }

  /** Makes an exchange known by the signal that its route passes on. */
  follow(exchange: Exchange): void {
    this.#exchanges.set(exchange.gone, exchange);
  }

  async complete(...[request, onPart, signal]: Parameters<CompletionService['complete']>) {
    const exchange = this.#noteModel(request.model, signal);
    const result = await this.#inner.complete(request, onPart, signal);
    if (exchange !== undefined && result.ok) exchange.timings = result.data.timings;
    return result;
  }

  countTokens(request: Parameters<CompletionService['countTokens']>[0]) {
    return this.#inner.countTokens(request);
  }

  async embed(...[request, signal]: Parameters<CompletionService['embed']>) {
    const exchange = this.#noteModel(request.model, signal);
    const result = await this.#inner.embed(request, signal);
    if (exchange !== undefined && result.ok) exchange.fields['promptTokens'] = result.data.promptTokens;
    return result;
  }

  retryAfterSeconds(): number {
    return this.#inner.retryAfterSeconds();
  }

  #noteModel(asked: string | null, signal: AbortSignal): Exchange | undefined {
    const exchange = this.#exchanges.get(signal);
    const present = this.#models.status().model ?? this.#models.hibernated();
    if (exchange !== undefined) exchange.model = asked ?? present?.id ?? null;
    return exchange;
  }
}
