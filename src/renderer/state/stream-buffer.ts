import type { AppEvent, Message, Result, StreamPart, StreamSnapshot } from '../../main/contract/index.ts';

export type StreamEvent = Extract<AppEvent, { readonly type: 'stream.chunk' | 'stream.end' }>;

export interface StreamBufferOptions {
  readonly streamId: string;
  readonly attach: (streamId: string) => Promise<Result<StreamSnapshot>>;
  /** Unix time in ms. */
  readonly now: () => number;
  /** Text, thought or end has changed. */
  readonly changed: () => void;
  /** The stream is over, but its final message did not come this way: fetch the conversation. */
  readonly missed: () => void;
}

/** Text of one running answer, put together from a snapshot and numbered chunks. Nothing is lost or doubled. */
export class StreamBuffer {
  readonly #options: StreamBufferOptions;
  readonly #early = new Map<number, readonly StreamPart[]>();
  #seq = 0;
  #text = '';
  #thought = '';
  #ended = false;
  #attaching = false;
  #attachAgain = false;
  #missed = false;
  #thoughtSince: number | null = null;
  #thoughtMs: number | null = null;

  constructor(options: StreamBufferOptions) {
    this.#options = options;
  }

  get seq(): number {
    return this.#seq;
  }
  get text(): string {
    return this.#text;
  }
  get thought(): string {
    return this.#thought;
  }
  get ended(): boolean {
    return this.#ended;
  }
  /** How long the model thought before it answered; null when this page has not seen both ends. */
  get thoughtMs(): number | null {
    return this.#thoughtMs;
  }

  apply(event: StreamEvent): void {
    if (this.#ended) return;
    if (event.type === 'stream.end') {
      this.#finish(event.message, event.seq);
      return;
    }
    if (event.seq <= this.#seq) return;
    this.#early.set(event.seq, event.parts);
    const advanced = this.#drain();
    if (advanced) this.#options.changed();
    if (this.#early.size > 0) void this.#requestSnapshot();
  }

  /** Asks for a snapshot that is newer than this call, as needed after a time without events. */
  attach(): void {
    if (this.#ended) return;
    if (this.#attaching) this.#attachAgain = true;
    else void this.#requestSnapshot();
  }

  async #requestSnapshot(): Promise<void> {
    if (this.#attaching) return;
    this.#attaching = true;
    const result = await this.#options.attach(this.#options.streamId);
    this.#attaching = false;
    if (this.#ended) return;
    const again = this.#attachAgain;
    this.#attachAgain = false;
    let advanced = false;
    if (result.ok) advanced = this.#takeSnapshot(result.data);
    else if (result.error.code === 'stream_not_found') {
      this.#miss();
      return;
    }
    // A hole that a fresh snapshot did not shrink waits for the next event instead of asking in circles.
    if (again || (advanced && this.#early.size > 0)) void this.#requestSnapshot();
  }

  #takeSnapshot(snapshot: StreamSnapshot): boolean {
    const before = this.#seq;
    if (snapshot.seq > this.#seq) {
      this.#seq = snapshot.seq;
      this.#text = snapshot.text;
      this.#thought = snapshot.thought;
      if (this.#thoughtMs === null) this.#thoughtSince = null;
    }
    this.#drain();
    const advanced = this.#seq > before;
    if (advanced) this.#options.changed();
    if (snapshot.ended) this.#miss();
    return advanced;
  }

  // Once only: asking again while main still saves the message would go in circles.
  #miss(): void {
    if (!this.#missed) this.#options.missed();
    this.#missed = true;
  }

  #drain(): boolean {
    const before = this.#seq;
    for (const seq of this.#early.keys()) if (seq <= this.#seq) this.#early.delete(seq);
    for (let parts = this.#early.get(this.#seq + 1); parts !== undefined; parts = this.#early.get(this.#seq + 1)) {
      this.#seq += 1;
      this.#early.delete(this.#seq);
      for (const part of parts) this.#append(part);
    }
    return this.#seq > before;
  }

  #append(part: StreamPart): void {
    if (part.kind === 'thought') {
      if (this.#thought === '' && part.text !== '') this.#thoughtSince = this.#options.now();
      this.#thought += part.text;
      return;
    }
    if (this.#thoughtSince !== null && this.#thoughtMs === null) {
      this.#thoughtMs = this.#options.now() - this.#thoughtSince;
    }
    this.#text += part.text;
  }

  // The final message holds all of the text, so an end is right even behind a hole.
  #finish(message: Message, seq: number): void {
    this.#ended = true;
    this.#seq = seq;
    this.#text = message.text;
    this.#thought = message.thought;
    this.#early.clear();
    this.#options.changed();
  }
}
