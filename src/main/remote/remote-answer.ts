import { fail, ok, type Result, type Timings } from '../contract/index.ts';
import type { AnswerEnd, AnswerPart, WholeAnswer } from '../engine/index.ts';
import { brokenAnswer, messageIn } from './remote-failures.ts';

/** Longest line of a stream, in UTF-16 units. */
const longestLine = 4 * 1024 * 1024;

type Fields = Readonly<Record<string, unknown>>;
type Call = { readonly id: string; readonly name: string; arguments: string };

/** Reads the stream of a chat or completion piece by piece; a server that does not stream answers in one piece. */
export class AnswerReader {
  readonly #onPart: (part: AnswerPart) => void;
  readonly #now: () => number;
  readonly #began: number;
  readonly #calls = new Map<number, Call>();
  #pending = '';
  /** Whether it is one JSON body instead of a stream; null before its first letter. */
  #whole: boolean | null = null;
  #text = '';
  #thought = '';
  #reason: string | null = null;
  #done = false;
  #pieces = 0;
  #firstAt: number | null = null;
  #lastAt = 0;
  #usage: Fields = {};
  #timings: Fields = {};
  #problem: Result<never> | null = null;

  /** @param now monotonic clock in ms. */
  constructor(onPart: (part: AnswerPart) => void, now: () => number) {
    this.#onPart = onPart;
    this.#now = now;
    this.#began = now();
  }

  /** @returns false when nothing more need be read: the stream is done, or it is none. */
  push(text: string): boolean {
    this.#pending += text;
    this.#whole ??= this.#pending.trim() === '' ? null : this.#pending.trimStart().startsWith('{');
    let end = this.#whole === true ? -1 : this.#pending.indexOf('\n');
    while (end !== -1 && this.#problem === null && !this.#done) {
      this.#line(this.#pending.slice(0, end).replace(/\r$/, ''));
      this.#pending = this.#pending.slice(end + 1);
      end = this.#pending.indexOf('\n');
    }
    if (this.#pending.length > longestLine)
      this.#problem = brokenAnswer('The remote engine sent a line without an end.');
    return this.#problem === null && !this.#done;
  }

  /** All that came before a stop. */
  stopped(): WholeAnswer {
    return this.#answer('stopped');
  }

  /** After all of the body. */
  finish(): Result<WholeAnswer> {
    if (this.#problem === null && !this.#done && this.#pending.trim() !== '') this.#rest();
    if (this.#problem !== null) return this.#problem;
    if (!this.#done && this.#reason === null) {
      return brokenAnswer(
        this.#pieces === 0
          ? 'The remote engine sent something that is no answer.'
          : 'The remote engine ended in the middle of the answer.',
      );
    }
    return ok(this.#answer(endOf(this.#reason, this.#calls.size > 0)));
  }

  #rest(): void {
    if (this.#whole === true) this.#chunk(this.#pending);
    else this.#line(this.#pending.trim());
    this.#pending = '';
  }

  #line(line: string): void {
    if (!line.startsWith('data:')) {
      if (line !== '' && !/^(?::|event:|id:|retry:)/.test(line)) {
        this.#problem = brokenAnswer('The remote engine sent something that is no answer.');
      }
      return;
    }
    const data = line.slice('data:'.length).trim();
    if (data === '[DONE]') this.#done = true;
    else if (data !== '') this.#chunk(data);
  }

  #chunk(data: string): void {
    const chunk = parse(data);
    if (chunk === null) this.#problem = brokenAnswer('The remote engine sent a piece that cannot be read.');
    else this.#take(chunk);
  }

  #take(chunk: Fields): void {
    if (chunk['error'] !== undefined && chunk['error'] !== null) {
      const said = (messageIn(chunk['error']) ?? '').slice(0, 500);
      this.#problem = fail('remote_failed', `The remote engine failed while it answered. ${said}`.trim(), 'Try again.');
      return;
    }
    this.#usage = fieldsOf(chunk['usage']) ?? this.#usage;
    this.#timings = fieldsOf(chunk['timings']) ?? this.#timings;
    const choices = chunk['choices'];
    const choice = Array.isArray(choices) ? fieldsOf(choices[0]) : null;
    if (choice === null) return;
    const delta = fieldsOf(choice['delta']) ?? fieldsOf(choice['message']) ?? {};
    this.#part('thought', delta['reasoning_content'] ?? delta['reasoning']);
    this.#part('text', delta['content'] ?? choice['text']);
    const calls = delta['tool_calls'];
    if (Array.isArray(calls)) for (const [at, call] of calls.entries()) this.#call(fieldsOf(call), at);
    if (typeof choice['finish_reason'] === 'string') this.#reason = choice['finish_reason'];
  }

  #part(kind: 'text' | 'thought', text: unknown): void {
    if (typeof text !== 'string' || text === '') return;
    if (kind === 'text') this.#text += text;
    else this.#thought += text;
    this.#count();
    this.#onPart({ kind, text });
  }

  #call(call: Fields | null, position: number): void {
    if (call === null) return;
    const index = typeof call['index'] === 'number' ? call['index'] : position;
    const described = fieldsOf(call['function']) ?? {};
    const text = typeof described['arguments'] === 'string' ? described['arguments'] : '';
    let known = this.#calls.get(index);
    if (known === undefined) {
      const id = typeof call['id'] === 'string' && call['id'] !== '' ? call['id'] : `call_${index}`;
      known = { id, name: typeof described['name'] === 'string' ? described['name'] : '', arguments: '' };
      this.#calls.set(index, known);
    }
    known.arguments += text;
    this.#count();
    this.#onPart({ kind: 'tool_call', index, id: known.id, name: known.name, text });
  }

  #count(): void {
    this.#pieces += 1;
    this.#lastAt = this.#now();
    this.#firstAt ??= this.#lastAt;
  }

  #answer(end: AnswerEnd): WholeAnswer {
    const toolCalls = [...this.#calls].sort(([a], [b]) => a - b).map(([, call]) => ({ ...call }));
    return { text: this.#text, thought: this.#thought, toolCalls, end, timings: this.#timingsOf() };
  }

  /** The server's own figures where it gives them; else what was seen from here, a piece taken for a token. */
  #timingsOf(): Timings {
    const first = this.#firstAt;
    const promptTokens = number(this.#usage['prompt_tokens']) ?? 0;
    const details = fieldsOf(this.#usage['prompt_tokens_details']) ?? {};
    const cached = Math.min(promptTokens, number(details['cached_tokens']) ?? 0);
    const predictedTokens =
      number(this.#usage['completion_tokens']) ?? number(this.#timings['predicted_n']) ?? this.#pieces;
    const seenMs = first === null ? 0 : this.#lastAt - first;
    const predictedMs = number(this.#timings['predicted_ms']) ?? seenMs;
    return {
      promptTokens: Math.round(promptTokens),
      promptTokensEvaluated: Math.round(promptTokens - cached),
      turnsDropped: 0,
      queuedMs: 0,
      prefillMs: number(this.#timings['prompt_ms']) ?? (first ?? this.#now()) - this.#began,
      timeToFirstTokenMs: first === null ? null : first - this.#began,
      predictedTokens: Math.round(predictedTokens),
      predictedMs,
      tokensPerSecond: predictedMs > 0 && predictedTokens > 0 ? (predictedTokens / predictedMs) * 1000 : null,
    };
  }
}

function endOf(reason: string | null, calls: boolean): AnswerEnd {
  if (reason === 'length') return 'max_tokens';
  return reason === 'tool_calls' || reason === 'function_call' || (calls && reason === null) ? 'tool_calls' : 'end';
}

function parse(text: string): Fields | null {
  try {
    return fieldsOf(JSON.parse(text));
  } catch {
    return null;
  }
}

function fieldsOf(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null;
}

function number(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null;
}
