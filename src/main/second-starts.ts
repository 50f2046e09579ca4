import { Emitter } from './base/index.ts';
import type { SecondStart } from './contract/index.ts';
import type { ModelService } from './services/index.ts';

/** What other processes of the same user want of the one that runs. */
export class SecondStarts {
  /** Hears when the window shall come to the front. Only a shell with a window listens. */
  readonly shown = new Emitter<void>();
  readonly #models: Pick<ModelService, 'load'>;
  readonly #notify: (text: string) => void;

  constructor(models: Pick<ModelService, 'load'>, notify: (text: string) => void) {
    this.#models = models;
    this.#notify = notify;
  }

  /** Answers at once: a load takes its time, and its progress is seen here. @returns whether a window was shown. */
  readonly hear = ({ model, show }: SecondStart): boolean => {
    if (model !== null) void this.#load(model);
    if (show) this.shown.emit();
    return show && this.shown.size > 0;
  };

  async #load(model: string): Promise<void> {
    const loaded = await this.#models.load(model);
    if (!loaded.ok) this.#notify(`${loaded.error.message} ${loaded.error.hint ?? ''}`.trim());
  }
}
