/** What may be shown now; `stopped`: a stop string was found, and nothing comes after it. */
export type Released = { readonly text: string; readonly stopped: boolean };

/** Finds texts that end an answer, whatever pieces it comes in. What may become one of them is held back. */
export class StopStrings {
  readonly #stops: readonly string[];
  #held = '';

  constructor(stops: readonly string[]) {
    this.#stops = stops.filter((stop) => stop !== '');
  }

  /** Takes the next piece of the answer. */
  push(piece: string): Released {
    const text = this.#held + piece;
    const found = this.#stops.map((stop) => text.indexOf(stop)).filter((at) => at >= 0);
    if (found.length > 0) {
      this.#held = '';
      return { text: text.slice(0, Math.min(...found)), stopped: true };
    }
    const kept = Math.max(0, ...this.#stops.map((stop) => overlap(text, stop)));
    this.#held = text.slice(text.length - kept);
    return { text: text.slice(0, text.length - kept), stopped: false };
  }

  /** At the end of the answer: what was held back for nothing. */
  flush(): string {
    const text = this.#held;
    this.#held = '';
    return text;
  }
}

/** Length of the longest end of `text` with which `stop` begins. */
function overlap(text: string, stop: string): number {
  for (let length = Math.min(text.length, stop.length - 1); length > 0; length--) {
    if (text.endsWith(stop.slice(0, length))) return length;
  }
  return 0;
}
