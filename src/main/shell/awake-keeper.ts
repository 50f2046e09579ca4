import type { ElectronModules } from './electron-faces.ts';

/** Keeps the computer from going to sleep by itself while an answer is computed, and at no other time. */
export class AwakeKeeper {
  readonly #blocker: ElectronModules['powerSaveBlocker'];
  #id: number | null = null;

  constructor({ powerSaveBlocker }: Pick<ElectronModules, 'powerSaveBlocker'>) {
    this.#blocker = powerSaveBlocker;
  }

  update(answering: boolean): void {
    if (answering) this.#id ??= this.#blocker.start('prevent-app-suspension');
    else if (this.#id !== null) {
      this.#blocker.stop(this.#id);
      this.#id = null;
    }
  }
}
