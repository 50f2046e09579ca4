import type { ServerResponse } from 'node:http';

export type EventStreamLimits = {
  /** Bytes that may wait for the reader, beside one event of whatever size. */
  readonly queueBytes: number;
  readonly heartbeatMs: number;
  /** What a heartbeat writes, as it stands on the wire; a comment when not given. */
  readonly heartbeat?: string | undefined;
};

/** A `text/event-stream` reply that never holds more than its limit for a reader that does not keep up. */
export class EventStream {
  readonly #outgoing: ServerResponse;
  readonly #limits: EventStreamLimits;
  #heartbeat: NodeJS.Timeout | null = null;
  #quiet = true;
  #started = false;
  /** Size of the largest event since nothing was waiting. */
  #largest = 0;

  constructor(outgoing: ServerResponse, limits: EventStreamLimits) {
    this.#outgoing = outgoing;
    this.#limits = limits;
    // Writes that race with a disconnect report here; the `close` that follows is what counts.
    outgoing.on('error', () => undefined);
    outgoing.once('close', () => this.#stopHeartbeat());
  }

  get started(): boolean {
    return this.#started;
  }

  /** Sends the head; from here on the status can no longer change. */
  start(): void {
    if (this.#started || this.#closed) return;
    this.#started = true;
    this.#outgoing.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    this.#outgoing.flushHeaders();
    this.#heartbeat = setInterval(() => this.#beat(), this.#limits.heartbeatMs);
    this.#heartbeat.unref();
  }

  /** @returns false when the reader is gone, or was cut off because too much was waiting for it. */
  send(data: string, event?: string): boolean {
    return this.#write(event === undefined ? `data: ${data}\n\n` : `event: ${event}\ndata: ${data}\n\n`);
  }

  comment(text: string): boolean {
    return this.#write(`: ${text}\n\n`);
  }

  /** Ends the reply after what is waiting. */
  end(): void {
    this.#stopHeartbeat();
    if (!this.#closed) this.#outgoing.end();
  }

  get #closed(): boolean {
    return this.#outgoing.destroyed || this.#outgoing.writableEnded;
  }

  #write(text: string): boolean {
    if (this.#closed) return false;
    const waiting = this.#outgoing.writableLength;
    if (waiting === 0) this.#largest = 0;
    // One long message on its way must not get a quick reader cut off by the short event behind it.
    if (waiting > this.#limits.queueBytes + this.#largest) return this.#cutOff();
    const bytes = Buffer.from(text);
    this.#largest = Math.max(this.#largest, bytes.length);
    this.#quiet = false;
    this.#outgoing.write(bytes);
    return true;
  }

  /** An orderly end would wait behind what the reader does not take. */
  #cutOff(): false {
    this.#stopHeartbeat();
    this.#outgoing.req.socket.destroy();
    return false;
  }

  #beat(): void {
    if (this.#quiet) this.#write(this.#limits.heartbeat ?? ': waiting\n\n');
    this.#quiet = true;
  }

  #stopHeartbeat(): void {
    if (this.#heartbeat !== null) clearInterval(this.#heartbeat);
    this.#heartbeat = null;
  }
}
