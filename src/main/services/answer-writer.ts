import type { Message, Result, StreamPart } from '../contract/index.ts';
import type { ConversationFiles, ConversationRecord } from '../store/index.ts';
import type { ConversationTree } from './conversation.ts';

/** Text that has come is on its way to the disk at most this much later, in ms. */
const writeDelay = 400;

/** Keeps a growing answer in its tree and its log, so that nothing that was read is lost with the process. */
export class AnswerWriter {
  readonly #files: Pick<ConversationFiles, 'append'>;
  readonly #tree: ConversationTree;
  readonly #onProblem: (result: Result<void>) => void;
  #answer: Message;
  #pending: ConversationRecord[] = [];
  #timer: NodeJS.Timeout | null = null;

  /** @param onProblem hears of each failed write; the text stays in memory and goes with the next one. */
  constructor(
    files: Pick<ConversationFiles, 'append'>,
    tree: ConversationTree,
    answer: Message,
    onProblem: (result: Result<void>) => void,
  ) {
    this.#files = files;
    this.#tree = tree;
    this.#answer = answer;
    this.#onProblem = onProblem;
  }

  /** The answer as far as it has come. */
  get answer(): Message {
    return this.#answer;
  }

  push({ kind, text }: StreamPart): void {
    const field = kind === 'text' ? 'text' : 'thought';
    this.#answer = { ...this.#answer, [field]: this.#answer[field] + text };
    const last = this.#pending.at(-1);
    if (last?.type === 'part' && last.kind === kind)
      this.#pending[this.#pending.length - 1] = { ...last, text: last.text + text };
    else this.#pending.push({ type: 'part', id: this.#answer.id, kind, text });
    this.#timer ??= setTimeout(() => this.#write(), writeDelay);
  }

  /** Writes the final state; it is on disk when the promise settles, or `onProblem` was told. */
  async finish(message: Message): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#pending = [];
    this.#tree.replace(message);
    this.#onProblem(await this.#files.append(this.#tree.snapshot, [{ type: 'message', message }], { sync: true }));
  }

  #write(): void {
    this.#timer = null;
    const records = this.#pending;
    this.#pending = [];
    this.#tree.replace(this.#answer);
    void this.#files.append(this.#tree.snapshot, records, { sync: false }).then(this.#onProblem);
  }
}
