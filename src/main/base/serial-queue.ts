/** Runs tasks one after the other, in the order they were added. */
export class SerialQueue {
  #tail: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  readonly #onChange: () => void;

  /** @param onChange called when the number of waiting tasks has changed. */
  constructor(onChange: () => void = () => undefined) {
    this.#onChange = onChange;
  }

  /** Tasks that have not begun. */
  get waiting(): number {
    return this.#waiting;
  }

  /** @returns what `task` returns. A task that throws does not hold up the next one. */
  run<T>(task: () => Promise<T>): Promise<T> {
    this.#waiting++;
    this.#onChange();
    const result = this.#tail.then(() => {
      this.#waiting--;
      this.#onChange();
      return task();
    });
    this.#tail = result.catch(() => undefined);
    return result;
  }
}
