/** A list of listeners. One that throws does not keep the others from hearing. */
export class Emitter<T> {
  readonly #listeners = new Set<(value: T) => void>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void = () => undefined) {
    this.#onError = onError;
  }

  /** @returns a function that ends the subscription; calling it twice is harmless. */
  on(listener: (value: T) => void): () => void {
    const entry = (value: T) => listener(value);
    this.#listeners.add(entry);
    return () => void this.#listeners.delete(entry);
  }

  emit(value: T): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(value);
      } catch (error) {
        this.#onError(error);
      }
    }
  }

  get size(): number {
    return this.#listeners.size;
  }
}
