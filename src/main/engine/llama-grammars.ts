import type { Llama, LlamaGrammar } from 'node-llama-cpp';

/** Grammars that are remembered; agents ask for the same ones again and again. */
const remembered = 16;

/** Compiled grammars of one llama.cpp. */
export class LlamaGrammars {
  readonly #llama: Llama;
  readonly #known = new Map<string, LlamaGrammar>();

  constructor(llama: Llama) {
    this.#llama = llama;
  }

  /** @param text GBNF whose first rule is `root`. */
  async get(text: string): Promise<LlamaGrammar> {
    const known = this.#known.get(text) ?? (await this.#llama.createGrammar({ grammar: text }));
    // The latest one goes to the end, so that the first is the one to forget.
    this.#known.delete(text);
    this.#known.set(text, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > remembered && oldest !== undefined) this.#known.delete(oldest);
    return known;
  }
}
