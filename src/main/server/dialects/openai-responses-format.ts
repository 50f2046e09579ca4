import type { AnswerPart, Completion } from '../../services/interfaces.ts';
import type { Refusal } from '../replies.ts';
import type { AnswerFormat, ReplyHead, StreamEvent } from './dialect.ts';
import type { ResponsesRequest } from './openai-responses-request.ts';
import { cachedTokens, llamaTimings } from './usage.ts';

type Item =
  | { readonly kind: 'message' | 'reasoning'; readonly id: string; text: string }
  | {
      readonly kind: 'call';
      readonly id: string;
      readonly index: number;
      readonly callId: string;
      readonly name: string;
      text: string;
    };
type Status = 'in_progress' | 'completed' | 'incomplete';

/** A `response` object and the events that build it up. */
export class OpenAiResponsesFormat implements AnswerFormat {
  readonly #head: ReplyHead;
  readonly #request: ResponsesRequest;
  readonly #items: Item[] = [];
  #sequence = 0;
  /** Whether the last item can still grow. */
  #open = false;

  constructor(head: ReplyHead, request: ResponsesRequest) {
    this.#head = head;
    this.#request = request;
  }

  whole(completion: Completion) {
    const { text, thought, toolCalls } = completion;
    if (thought !== '') this.#items.push({ kind: 'reasoning', id: this.#head.newId('rs_'), text: thought });
    if (text !== '' || toolCalls.length === 0) {
      this.#items.push({ kind: 'message', id: this.#head.newId('msg_'), text });
    }
    for (const [index, { id, name, arguments: json }] of toolCalls.entries()) {
      this.#items.push({ kind: 'call', id: this.#head.newId('fc_'), index, callId: id, name, text: json });
    }
    return this.#finished(completion);
  }

  opening(): readonly StreamEvent[] {
    const response = this.#response('in_progress');
    return [this.#event('response.created', { response }), this.#event('response.in_progress', { response })];
  }

  part(part: AnswerPart): readonly StreamEvent[] {
    const events: StreamEvent[] = [];
    if (!this.#continues(part)) events.push(...this.#endItem('completed'), ...this.#beginItem(part));
    const item = this.#items.at(-1);
    if (item === undefined) return events;
    item.text += part.text;
    const where = this.#where(item);
    // A piece that says nothing (the begin of a call) has its event already.
    if (part.text !== '') {
      const logprobs = item.kind === 'message' ? { logprobs: [] } : {};
      events.push(this.#event(`response.${streamNames[item.kind]}.delta`, { ...where, delta: part.text, ...logprobs }));
    }
    return events;
  }

  closing(completion: Completion): readonly StreamEvent[] {
    const status = statusOf(completion);
    const events: StreamEvent[] = [];
    // An answer without a word is still a message.
    if (this.#items.length === 0) events.push(...this.#beginItem({ kind: 'text', text: '' }));
    events.push(...this.#endItem(status));
    events.push(this.#event(`response.${status}`, { response: this.#finished(completion) }));
    return events;
  }

  failure({ code, message, status }: Refusal): readonly StreamEvent[] {
    const error = { code: status === 429 ? 'rate_limit_exceeded' : status >= 500 ? 'server_error' : code, message };
    return [this.#event('response.failed', { response: { ...this.#response('failed'), error } })];
  }

  #continues(part: AnswerPart): boolean {
    const item = this.#items.at(-1);
    if (item === undefined || !this.#open) return false;
    if (item.kind === 'call') return part.kind === 'tool_call' && part.index === item.index;
    return item.kind === (part.kind === 'text' ? 'message' : part.kind === 'thought' ? 'reasoning' : null);
  }

  #beginItem(part: AnswerPart): readonly StreamEvent[] {
    const item = this.#newItem(part);
    this.#items.push(item);
    this.#open = true;
    const index = this.#items.length - 1;
    const added = this.#event('response.output_item.added', { output_index: index, item: emptyItem(item) });
    if (item.kind === 'call') return [added];
    return [
      added,
      this.#event('response.content_part.added', { ...this.#where(item), part: contentPart(item.kind, '') }),
    ];
  }

  #newItem(part: AnswerPart): Item {
    switch (part.kind) {
      case 'text':
        return { kind: 'message', id: this.#head.newId('msg_'), text: '' };
      case 'thought':
        return { kind: 'reasoning', id: this.#head.newId('rs_'), text: '' };
      case 'tool_call': {
        const { index, id: callId, name } = part;
        return { kind: 'call', id: this.#head.newId('fc_'), index, callId, name, text: '' };
      }
    }
  }

  #endItem(status: Status): readonly StreamEvent[] {
    const item = this.#items.at(-1);
    if (item === undefined || !this.#open) return [];
    this.#open = false;
    const where = this.#where(item);
    const { text } = item;
    const events: StreamEvent[] = [];
    if (item.kind === 'call') {
      const { name } = item;
      events.push(this.#event('response.function_call_arguments.done', { ...where, name, arguments: text }));
    } else {
      const logprobs = item.kind === 'message' ? { logprobs: [] } : {};
      events.push(this.#event(`response.${streamNames[item.kind]}.done`, { ...where, text, ...logprobs }));
      events.push(this.#event('response.content_part.done', { ...where, part: contentPart(item.kind, text) }));
    }
    const index = this.#items.length - 1;
    events.push(this.#event('response.output_item.done', { output_index: index, item: wholeItem(item, status) }));
    return events;
  }

  #where(item: Item) {
    const place = { item_id: item.id, output_index: this.#items.length - 1 };
    return item.kind === 'call' ? place : { ...place, content_index: 0 };
  }

  #event(type: string, fields: object): StreamEvent {
    return { event: type, data: { type, sequence_number: this.#sequence++, ...fields } };
  }

  #finished(completion: Completion) {
    const { timings } = completion;
    const status = statusOf(completion);
    return {
      ...this.#response(status),
      completed_at: status === 'completed' ? Math.floor(Date.now() / 1000) : null,
      incomplete_details: status === 'completed' ? null : { reason: 'max_output_tokens' },
      output: this.#items.map((item, index) => wholeItem(item, index < this.#items.length - 1 ? 'completed' : status)),
      usage: {
        input_tokens: timings.promptTokens,
        input_tokens_details: { cached_tokens: cachedTokens(timings) },
        output_tokens: timings.predictedTokens,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: timings.promptTokens + timings.predictedTokens,
      },
      timings: llamaTimings(timings),
    };
  }

  #response(status: Status | 'failed') {
    const {
      instructions,
      max_output_tokens,
      temperature,
      top_p,
      tools,
      tool_choice,
      parallel_tool_calls,
      text,
      metadata,
    } = this.#request;
    return {
      id: this.#head.id,
      object: 'response' as const,
      created_at: this.#head.created,
      status,
      background: false,
      error: null,
      incomplete_details: null as { reason: string } | null,
      instructions: instructions ?? null,
      max_output_tokens: max_output_tokens ?? null,
      model: this.#head.model,
      output: [] as object[],
      parallel_tool_calls: parallel_tool_calls ?? true,
      previous_response_id: null,
      store: false,
      temperature: temperature ?? null,
      text: { format: text?.format ?? { type: 'text' } },
      tool_choice: tool_choice ?? 'auto',
      tools: tools ?? [],
      top_p: top_p ?? null,
      truncation: 'disabled',
      usage: null as object | null,
      metadata: metadata ?? {},
    };
  }
}

const streamNames = { message: 'output_text', reasoning: 'reasoning_text', call: 'function_call_arguments' } as const;

function statusOf({ end }: Completion): 'completed' | 'incomplete' {
  return end === 'max_tokens' || end === 'context_full' ? 'incomplete' : 'completed';
}

function contentPart(kind: 'message' | 'reasoning', text: string) {
  return kind === 'message'
    ? { type: 'output_text' as const, text, annotations: [], logprobs: [] }
    : { type: 'reasoning_text' as const, text };
}

function emptyItem(item: Item) {
  return item.kind === 'call'
    ? wholeItem({ ...item, text: '' }, 'in_progress')
    : { ...wholeItem(item, 'in_progress'), content: [] };
}

function wholeItem(item: Item, status: Status) {
  const { id } = item;
  switch (item.kind) {
    case 'message':
      return { id, type: 'message', status, role: 'assistant', content: [contentPart('message', item.text)] };
    case 'reasoning':
      return { id, type: 'reasoning', status, summary: [], content: [contentPart('reasoning', item.text)] };
    case 'call':
      return { id, type: 'function_call', status, call_id: item.callId, name: item.name, arguments: item.text };
  }
}
