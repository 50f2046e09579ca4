/** Runs tasks one after the other, in the order they were added. The first one starts within the call. */
export class SerialQueue {
  readonly #pending: (() => void)[] = [];
  #running = false;

  /** @returns what `task` returns. A task that fails does not hold up the next one. */
  run<T>(task: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const start = () => {
        this.#running = true;
        task()
          .then(resolve, reject)
          .finally(() => {
            this.#running = false;
            this.#pending.shift()?.();
          });
      };
      if (this.#running) this.#pending.push(start);
      else start();
    });
  }
}
