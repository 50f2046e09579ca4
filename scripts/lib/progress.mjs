import process from 'node:process';

/** One line that updates itself on a terminal; elsewhere a plain line now and then. Writes to stderr. */
export class Progress {
  #started = Date.now();
  #lastPlain = 0;
  #width = 0;
  #title;
  #terminal = Boolean(process.stderr.isTTY);

  constructor(title, hint) {
    this.#title = title;
    if (this.#terminal) this.#draw(`${title}${hint}…`);
    else console.error(`${title}${hint}…`);
  }

  get seconds() {
    return Math.round((Date.now() - this.#started) / 1000);
  }

  /** @param detail such as `213 of 444 packages`; the elapsed seconds are added. */
  update(detail) {
    if (this.#terminal) this.#draw(`${this.#title}… ${detail}, ${this.seconds} s`);
    else if (Date.now() - Math.max(this.#lastPlain, this.#started) >= 10_000) {
      this.#lastPlain = Date.now();
      console.error(`  ${detail}, ${this.seconds} s`);
    }
  }

  end(text) {
    if (this.#terminal) this.#draw(`${text}\n`);
    else console.error(text);
  }

  #draw(text) {
    const columns = process.stderr.columns || 80;
    const line = text.endsWith('\n') ? text.slice(0, -1) : text.slice(0, columns - 1);
    process.stderr.write(`\r${line.padEnd(this.#width)}${text.endsWith('\n') ? '\n' : ''}`);
    this.#width = line.length;
  }
}
