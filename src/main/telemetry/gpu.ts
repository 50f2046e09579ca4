import type { Clock } from '../base/index.ts';
import type { GpuSample } from '../contract/index.ts';
import { AmdGpus } from './gpu-amd.ts';
import { NvidiaGpus } from './gpu-nvidia.ts';

/** Cards of one kind. Between `stop` and `start` nothing is asked of them, so that they can sleep. */
export interface GpuSource {
  start(): void;
  stop(): void;
  read(): readonly GpuSample[];
  /** Why there is nothing to read, as a sentence; null when there is, or it is not known yet. */
  readonly reason: string | null;
}

/** The cards that can be watched on this system. */
export function gpuSources(clock: Clock, platform: NodeJS.Platform = process.platform): readonly GpuSource[] {
  switch (platform) {
    case 'linux':
      return [new NvidiaGpus({ clock }), new AmdGpus()];
    case 'win32':
      return [new NvidiaGpus({ clock })];
    default:
      return [];
  }
}

/** Several kinds of cards as one. */
export class Gpus implements GpuSource {
  readonly #sources: readonly GpuSource[];

  constructor(sources: readonly GpuSource[]) {
    this.#sources = sources;
  }

  start(): void {
    for (const source of this.#sources) source.start();
  }

  stop(): void {
    for (const source of this.#sources) source.stop();
  }

  read(): GpuSample[] {
    return this.#sources.flatMap((source) => source.read());
  }

  get reason(): string | null {
    if (this.#sources.length === 0) return 'This system does not tell programs about its graphics card.';
    if (this.read().length > 0) return null;
    const reasons = this.#sources.map(({ reason }) => reason).filter((reason) => reason !== null);
    return reasons.length === 0 ? null : `No graphics card to show. ${reasons.join(' ')}`;
  }
}
