import type { AppEvent, Message } from '../contract/index.ts';

export type EndedAnswer = {
  readonly message: Message;
  /** From its start, in ms. */
  readonly tookMs: number;
};

/** Which answers of chats are being written, as the events tell. */
export class RunningAnswers {
  /** Unix time of the start in ms, by stream. */
  readonly #started = new Map<string, number>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  get streamIds(): readonly string[] {
    return [...this.#started.keys()];
  }

  /** @returns the answer that ended with this event, if one did. */
  apply(event: AppEvent): EndedAnswer | null {
    if (event.type === 'message.added' && event.message.streamId !== null) {
      this.#started.set(event.message.streamId, this.#now());
    }
    if (event.type !== 'stream.end') return null;
    const started = this.#started.get(event.streamId) ?? this.#now();
    this.#started.delete(event.streamId);
    return { message: event.message, tookMs: this.#now() - started };
  }
}
