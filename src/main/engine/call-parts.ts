import { randomBytes } from 'node:crypto';
import type { AnswerPart } from './engine.ts';

type Chunk = { readonly callIndex: number; readonly functionName: string; readonly paramsChunk: string };

/** An id for a call, unique beyond this process. */
export function callId(): string {
  return `call_${randomBytes(12).toString('hex')}`;
}

/** Makes parts of calls out of what LlamaChat tells of them. Its own end mark, line feeds, is left out. */
export class CallParts {
  readonly #tell: (part: AnswerPart) => void;
  /** Ids of the calls begun so far, by index. */
  readonly #ids: string[] = [];
  #held = '';
  /** Calls that are complete. */
  #count = 0;

  constructor(tell: (part: AnswerPart) => void) {
    this.#tell = tell;
  }

  get count(): number {
    return this.#count;
  }

  readonly onChunk = ({ callIndex, functionName, paramsChunk }: Chunk): void => {
    this.#begin(callIndex, functionName);
    const text = this.#held + paramsChunk;
    const shown = text.trimEnd();
    this.#held = text.slice(shown.length);
    if (shown !== '') this.#part(callIndex, functionName, shown);
  };

  readonly onCall = ({ functionName, params }: { readonly functionName: string; readonly params: unknown }): void => {
    const index = this.#count++;
    this.#held = '';
    // A tool without parameters comes without chunks.
    if (this.#begin(index, functionName)) this.#part(index, functionName, JSON.stringify(params ?? {}));
  };

  /** @returns whether it was not known before. */
  #begin(index: number, name: string): boolean {
    if (this.#ids[index] !== undefined) return false;
    this.#ids[index] = callId();
    this.#held = '';
    this.#part(index, name, '');
    return true;
  }

  #part(index: number, name: string, text: string): void {
    this.#tell({ kind: 'tool_call', index, id: this.#ids[index] ?? '', name, text });
  }
}
