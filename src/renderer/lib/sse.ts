/** Reads a `text/event-stream` body piece by piece; pieces may end anywhere, also inside a character. */
export class SseParser {
  readonly #decoder = new TextDecoder();
  #line = '';
  #skipLineFeed = false;
  #data: string[] = [];

  /** @returns the data of every event that is complete now, in order. Comments and other fields are dropped. */
  push(bytes: Uint8Array): string[] {
    const events: string[] = [];
    const text = this.#decoder.decode(bytes, { stream: true });
    let start = 0;
    for (let index = 0; index < text.length; index += 1) {
      const unit = text[index];
      if (unit === '\n' && this.#skipLineFeed) {
        this.#skipLineFeed = false;
        start = index + 1;
        continue;
      }
      this.#skipLineFeed = false;
      if (unit !== '\n' && unit !== '\r') continue;
      this.#takeLine(this.#line + text.slice(start, index), events);
      this.#line = '';
      start = index + 1;
      this.#skipLineFeed = unit === '\r';
    }
    this.#line += text.slice(start);
    return events;
  }

  #takeLine(line: string, events: string[]): void {
    if (line === '') {
      if (this.#data.length > 0) events.push(this.#data.join('\n'));
      this.#data = [];
      return;
    }
    if (line === 'data') this.#data.push('');
    if (!line.startsWith('data:')) return;
    this.#data.push(line.slice(line[5] === ' ' ? 6 : 5));
  }
}
