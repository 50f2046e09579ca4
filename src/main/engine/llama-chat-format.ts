import { resolveChatWrapper, type ChatWrapper, type LlamaModel } from 'node-llama-cpp';
import type { ChatFormat } from './engine.ts';

/** Our names for node-llama-cpp's chat wrappers. */
const wrapperTypes = {
  chatml: 'chatML',
  qwen: 'qwen',
  harmony: 'harmony',
  deepseek: 'deepSeek',
  llama3: 'llama3.1',
  mistral: 'mistral',
  gemma: 'gemma',
  general: 'general',
} as const satisfies Record<Exclude<ChatFormat, 'auto'>, string>;

/** Formats found so far that are remembered. */
const remembered = 8;

/**
 * Finds the chat wrapper that writes prompts the way the model's own template does. Comparing a template with all
 * wrappers takes some 0.3 s of JavaScript, so that what was found is kept for the next load of the same model.
 */
export class ChatFormats {
  readonly #found = new Map<string, ChatWrapper>();

  /** @param format `auto` follows the template in the file, everything else overrides it. */
  resolve(model: LlamaModel, format: ChatFormat): ChatWrapper {
    if (format !== 'auto') return resolveChatWrapper(model, { type: wrapperTypes[format] });
    const { general, tokenizer } = model.fileInfo.metadata;
    const key = JSON.stringify([model.filename, general.name, general.architecture, tokenizer.chat_template]);
    const known = this.#found.get(key);
    if (known !== undefined) return known;
    const wrapper = resolveChatWrapper(model);
    if (this.#found.size >= remembered) this.#found.clear();
    this.#found.set(key, wrapper);
    return wrapper;
  }
}
