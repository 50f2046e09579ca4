import { fail, ok, type AppEvent, type Result, type StreamPart, type StreamSnapshot } from '../contract/index.ts';

/** A batch leaves this long after its first part, in ms: one frame at 60 Hz, rarely seen as a delay. */
const batchMs = 33;
/** A batch this large leaves at once, in UTF-16 units. */
const batchUnits = 16 * 1024;
/** Ended streams whose snapshot can still be fetched. */
const keptEnded = 32;

type Stream = {
  seq: number;
  text: string;
  thought: string;
  pending: StreamPart[];
  units: number;
  timer: NodeJS.Timeout | null;
  ended: boolean;
};
type Ending = Extract<AppEvent, { type: 'stream.end' }>['message'];

/** Numbers and batches streamed text. Whatever a page has missed it gets from the snapshot, then events go on at `seq + 1`. */
export class StreamHub {
  readonly #streams = new Map<string, Stream>();
  readonly #ended: string[] = [];
  readonly #emit: (event: AppEvent) => void;

  constructor(emit: (event: AppEvent) => void) {
    this.#emit = emit;
  }

  /** Makes a stream known before its first part, so that a page can attach at once. */
  open(streamId: string): void {
    if (this.#streams.has(streamId)) return;
    this.#streams.set(streamId, { seq: 0, text: '', thought: '', pending: [], units: 0, timer: null, ended: false });
  }

  push(streamId: string, part: StreamPart): void {
    this.open(streamId);
    const stream = this.#streams.get(streamId);
    if (stream === undefined || stream.ended) return;
    const last = stream.pending.at(-1);
    if (last?.kind === part.kind)
      stream.pending[stream.pending.length - 1] = { kind: part.kind, text: last.text + part.text };
    else stream.pending.push(part);
    stream.units += part.text.length;
    if (stream.units >= batchUnits) this.#flush(streamId, stream);
    else stream.timer ??= setTimeout(() => this.#flush(streamId, stream), batchMs);
  }

  /** Everything pending leaves before the end. */
  end(streamId: string, message: Ending): void {
    this.open(streamId);
    const stream = this.#streams.get(streamId);
    if (stream === undefined || stream.ended) return;
    this.#flush(streamId, stream);
    stream.ended = true;
    stream.text = message.text;
    stream.thought = message.thought;
    this.#emit({ type: 'stream.end', streamId, seq: ++stream.seq, message });
    this.#ended.push(streamId);
    if (this.#ended.length > keptEnded) this.#streams.delete(this.#ended.shift() ?? '');
  }

  snapshot(streamId: string): Result<StreamSnapshot> {
    const stream = this.#streams.get(streamId);
    if (stream === undefined) return fail('stream_not_found', 'This answer has ended.', 'Reload the conversation.');
    this.#flush(streamId, stream);
    return ok({ streamId, seq: stream.seq, text: stream.text, thought: stream.thought, ended: stream.ended });
  }

  /** Ends all timers; nothing is emitted afterwards. */
  close(): void {
    for (const stream of this.#streams.values()) if (stream.timer !== null) clearTimeout(stream.timer);
    this.#streams.clear();
  }

  #flush(streamId: string, stream: Stream): void {
    if (stream.timer !== null) clearTimeout(stream.timer);
    stream.timer = null;
    if (stream.pending.length === 0) return;
    const parts = stream.pending;
    stream.pending = [];
    stream.units = 0;
    for (const part of parts) {
      if (part.kind === 'text') stream.text += part.text;
      else stream.thought += part.text;
    }
    this.#emit({ type: 'stream.chunk', streamId, seq: ++stream.seq, parts });
  }
}
