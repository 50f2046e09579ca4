import type { AnswerPart, Completion } from '../../services/interfaces.ts';
import { messagesErrorBody, type Refusal } from '../replies.ts';
import type { AnswerFormat, ReplyHead, StreamEvent } from './dialect.ts';
import { cachedTokens, llamaTimings } from './usage.ts';

/** The stream event that keeps a quiet line alive. */
export const ping: StreamEvent = { event: 'ping', data: { type: 'ping' } };

/** A `message` and the events that build it up. */
export class AnthropicFormat implements AnswerFormat {
  readonly #head: ReplyHead;
  readonly #stops: readonly string[];
  #blocks = 0;
  /** What the open block holds: a kind, or the index of a call. null: none is open. */
  #open: 'text' | 'thought' | number | null = null;

  constructor(head: ReplyHead, stops: readonly string[]) {
    this.#head = head;
    this.#stops = stops;
  }

  whole(completion: Completion) {
    const { text, thought, toolCalls, timings } = completion;
    const content = [
      ...(thought === '' ? [] : [{ type: 'thinking' as const, thinking: thought, signature: '' }]),
      ...(text === '' && toolCalls.length > 0 ? [] : [{ type: 'text' as const, text }]),
      ...toolCalls.map(({ id, name, arguments: json }) => ({
        type: 'tool_use' as const,
        id,
        name,
        input: parse(json),
      })),
    ];
    return {
      ...this.#message(),
      content,
      ...this.#end(completion),
      usage: usage(completion),
      timings: llamaTimings(timings),
    };
  }

  /** How many tokens the prompt has is known at the end only, and stands in `message_delta`. */
  opening(): readonly StreamEvent[] {
    const message = { ...this.#message(), content: [], stop_reason: null, stop_sequence: null };
    return [event('message_start', { message: { ...message, usage: { input_tokens: 0, output_tokens: 0 } } }), ping];
  }

  part(part: AnswerPart): readonly StreamEvent[] {
    const kind = part.kind === 'tool_call' ? part.index : part.kind;
    const events = kind === this.#open ? [] : [...this.#closeBlock(), this.#openBlock(part)];
    this.#open = kind;
    if (part.text !== '') events.push(event('content_block_delta', { index: this.#blocks, delta: delta(part) }));
    return events;
  }

  closing(completion: Completion): readonly StreamEvent[] {
    const { timings } = completion;
    return [
      ...this.#closeBlock(),
      event('message_delta', {
        delta: this.#end(completion),
        usage: usage(completion),
        timings: llamaTimings(timings),
      }),
      event('message_stop', {}),
    ];
  }

  failure(refusal: Refusal): readonly StreamEvent[] {
    return [{ event: 'error', data: messagesErrorBody(refusal) }];
  }

  #openBlock(part: AnswerPart): StreamEvent {
    return event('content_block_start', { index: this.#blocks, content_block: emptyBlock(part) });
  }

  #closeBlock(): StreamEvent[] {
    if (this.#open === null) return [];
    this.#open = null;
    const closed = event('content_block_stop', { index: this.#blocks });
    this.#blocks += 1;
    return [closed];
  }

  #message() {
    const { id, model } = this.#head;
    return { id, type: 'message' as const, role: 'assistant' as const, model };
  }

  #end({ end, toolCalls }: Completion) {
    const reason = stopReason(end, toolCalls.length > 0);
    // Which of several sequences it was is not told by the engine.
    const sequence = reason === 'stop_sequence' && this.#stops.length === 1 ? this.#stops[0] : null;
    return { stop_reason: reason, stop_sequence: sequence ?? null };
  }
}

function stopReason(end: Completion['end'], calls: boolean): 'end_turn' | 'max_tokens' | 'stop_sequence' | 'tool_use' {
  switch (end) {
    case 'max_tokens':
    case 'context_full':
      return 'max_tokens';
    case 'stop_string':
      return 'stop_sequence';
    case 'tool_calls':
      return 'tool_use';
    case 'end':
    case 'stopped':
      return calls ? 'tool_use' : 'end_turn';
  }
}

function usage({ timings }: Completion) {
  const cached = cachedTokens(timings);
  return {
    // Anthropic counts what came from the cache apart.
    input_tokens: timings.promptTokens - cached,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached,
    output_tokens: timings.predictedTokens,
  };
}

function emptyBlock(part: AnswerPart) {
  switch (part.kind) {
    case 'text':
      return { type: 'text', text: '' };
    case 'thought':
      return { type: 'thinking', thinking: '', signature: '' };
    case 'tool_call':
      return { type: 'tool_use', id: part.id, name: part.name, input: {} };
  }
}

function delta(part: AnswerPart) {
  switch (part.kind) {
    case 'text':
      return { type: 'text_delta', text: part.text };
    case 'thought':
      return { type: 'thinking_delta', thinking: part.text };
    case 'tool_call':
      return { type: 'input_json_delta', partial_json: part.text };
  }
}

/** A call that was cut off by the length is no JSON; its reader gets what there is. */
function parse(json: string): unknown {
  try {
    return JSON.parse(json === '' ? '{}' : json);
  } catch {
    return { partial_json: json };
  }
}

function event(type: string, fields: object): StreamEvent {
  return { event: type, data: { type, ...fields } };
}
