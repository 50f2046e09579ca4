import type { AnswerPart, Completion } from '../../services/interfaces.ts';
import { apiErrorBody, type Refusal } from '../replies.ts';
import type { AnswerFormat, ReplyHead, StreamEvent } from './dialect.ts';
import { llamaTimings, usageOf } from './usage.ts';

/** `chat.completion` and its chunks. */
export class OpenAiChatFormat implements AnswerFormat {
  readonly #head: { readonly id: string; readonly created: number; readonly model: string };
  readonly #includeUsage: boolean;
  /** Calls whose id and name have been told. */
  readonly #begun = new Set<number>();

  constructor({ id, created, model }: ReplyHead, includeUsage: boolean) {
    this.#head = { id, created, model };
    this.#includeUsage = includeUsage;
  }

  whole(completion: Completion) {
    const { text, thought, toolCalls, timings } = completion;
    const calls = toolCalls.map(({ id, name, arguments: json }) => ({
      ...{ id, type: 'function' as const, function: { name, arguments: json } },
    }));
    const message = {
      role: 'assistant' as const,
      content: text === '' && calls.length > 0 ? null : text,
      refusal: null,
      ...(thought === '' ? {} : { reasoning_content: thought }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    };
    return {
      ...this.#head,
      object: 'chat.completion' as const,
      choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason(completion) }],
      usage: usageOf(timings),
      timings: llamaTimings(timings),
    };
  }

  opening(): readonly StreamEvent[] {
    return [this.#delta({ role: 'assistant', content: '' })];
  }

  part(part: AnswerPart): readonly StreamEvent[] {
    switch (part.kind) {
      case 'text':
        return [this.#delta({ content: part.text })];
      case 'thought':
        return [this.#delta({ reasoning_content: part.text })];
      case 'tool_call': {
        const { index, id, name, text } = part;
        const first = !this.#begun.has(index);
        this.#begun.add(index);
        const call = first
          ? { index, id, type: 'function', function: { name, arguments: text } }
          : { index, function: { arguments: text } };
        return [this.#delta({ tool_calls: [call] })];
      }
    }
  }

  /** The reason, and usage when it was asked for. Timings ride on the last one. */
  closing(completion: Completion): readonly StreamEvent[] {
    const finish = this.#chunk([{ index: 0, delta: {}, logprobs: null, finish_reason: finishReason(completion) }]);
    const timings = llamaTimings(completion.timings);
    const usage = { ...this.#chunk([]), usage: usageOf(completion.timings), timings };
    const chunks = this.#includeUsage ? [finish, usage] : [{ ...finish, timings }];
    return [...chunks.map((data) => ({ data })), { data: '[DONE]' }];
  }

  failure(refusal: Refusal): readonly StreamEvent[] {
    return [{ data: apiErrorBody(refusal) }];
  }

  #delta(delta: object): StreamEvent {
    return { data: this.#chunk([{ index: 0, delta, logprobs: null, finish_reason: null }]) };
  }

  #chunk(choices: readonly object[]) {
    return { ...this.#head, object: 'chat.completion.chunk' as const, choices };
  }
}

function finishReason({ end, toolCalls }: Completion): 'stop' | 'length' | 'tool_calls' {
  switch (end) {
    case 'tool_calls':
      return 'tool_calls';
    case 'max_tokens':
    case 'context_full':
      return 'length';
    case 'end':
    case 'stop_string':
    case 'stopped':
      return toolCalls.length > 0 ? 'tool_calls' : 'stop';
  }
}
