import type { Bridge } from '../../main/contract/index.ts';
import { StreamBuffer, type StreamEvent } from './stream-buffer.ts';

/** What is on screen of a running answer. A new object per painted frame, so that React can compare it. */
export interface StreamView {
  readonly text: string;
  readonly thought: string;
  readonly thoughtMs: number | null;
}

export interface StreamHubOptions {
  readonly bridge: Bridge;
  /** Calls back before the next paint, such as `requestAnimationFrame`. */
  readonly schedule: (paint: () => void) => void;
  /** Unix time in ms. */
  readonly now: () => number;
  /** See {@link StreamBuffer}: the conversation of this stream must be fetched anew. */
  readonly missed: (streamId: string) => void;
}

/** Ended streams whose late doubles are still recognised. */
const rememberedEnds = 200;

/** All running streams of this page. Listeners are told at most once per frame. */
export class StreamHub {
  readonly #options: StreamHubOptions;
  readonly #buffers = new Map<string, StreamBuffer>();
  readonly #views = new Map<string, StreamView>();
  readonly #listeners = new Map<string, Set<() => void>>();
  readonly #dirty = new Set<string>();
  readonly #ended = new Set<string>();
  #scheduled = false;

  constructor(options: StreamHubOptions) {
    this.#options = options;
  }

  /** Null before anything came: show what the message itself holds. */
  view(streamId: string): StreamView | null {
    return this.#views.get(streamId) ?? null;
  }

  subscribe(streamId: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(streamId) ?? new Set();
    this.#listeners.set(streamId, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(streamId) === listeners) this.#listeners.delete(streamId);
    };
  }

  /** @returns how long the model thought, once a stream has ended here and this is known. */
  apply(event: StreamEvent): number | null {
    const { streamId } = event;
    if (this.#ended.has(streamId)) return null;
    const buffer = this.#buffer(streamId);
    buffer.apply(event);
    if (!buffer.ended) return null;
    this.forget(streamId);
    return buffer.thoughtMs;
  }

  /** Fetches what has been written so far; needed for every stream that was not watched without a break. */
  attach(streamId: string): void {
    if (!this.#ended.has(streamId)) this.#buffer(streamId).attach();
  }

  /** The stream is over and its message known: free its text. */
  forget(streamId: string): void {
    this.#buffers.delete(streamId);
    this.#views.delete(streamId);
    this.#dirty.delete(streamId);
    this.#ended.add(streamId);
    for (const old of this.#ended) {
      if (this.#ended.size <= rememberedEnds) break;
      this.#ended.delete(old);
    }
  }

  #buffer(streamId: string): StreamBuffer {
    const known = this.#buffers.get(streamId);
    if (known !== undefined) return known;
    const buffer = new StreamBuffer({
      streamId,
      attach: (id) => this.#options.bridge.request('stream.attach', { streamId: id }),
      now: this.#options.now,
      changed: () => this.#markDirty(streamId),
      missed: () => this.#options.missed(streamId),
    });
    this.#buffers.set(streamId, buffer);
    return buffer;
  }

  #markDirty(streamId: string): void {
    this.#dirty.add(streamId);
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#options.schedule(() => this.#paint());
  }

  #paint(): void {
    this.#scheduled = false;
    const streams = [...this.#dirty];
    this.#dirty.clear();
    for (const streamId of streams) {
      const buffer = this.#buffers.get(streamId);
      if (buffer === undefined) continue;
      this.#views.set(streamId, { text: buffer.text, thought: buffer.thought, thoughtMs: buffer.thoughtMs });
      for (const listener of this.#listeners.get(streamId) ?? []) listener();
    }
  }
}
