import { z } from 'zod';
import type { AnswerPart, Completion } from '../../services/interfaces.ts';
import { apiErrorBody, type Refusal } from '../replies.ts';
import type { AnswerFormat, AnswerPlan, Read, ReplyHead, StreamEvent } from './dialect.ts';
import { isNothing, readWith, refuseField, unsupportedUnless } from './read-request.ts';
import {
  logitBiasField,
  maxTokensField,
  modelField,
  samplingFields,
  stopField,
  toLogitBias,
  toModel,
  toSampling,
  toStops,
} from './request-fields.ts';
import { llamaTimings, usageOf } from './usage.ts';

/** The body of `POST /v1/completions`. Unknown fields are ignored. */
export const textRequestSchema = z.object({
  model: modelField,
  prompt: z.union([z.string(), z.array(z.string())], {
    error: 'expected a text (token ids are not supported here)',
  }),
  ...samplingFields,
  max_tokens: maxTokensField,
  stop: stopField,
  logit_bias: logitBiasField,
  n: unsupportedUnless((value) => value === 1, 'More than one answer (n other than 1)'),
  best_of: unsupportedUnless((value) => value === 1, 'Choosing among answers (best_of other than 1)'),
  echo: unsupportedUnless(isNothing, 'Repeating the prompt (echo)'),
  suffix: unsupportedUnless(isNothing, 'Text after the answer (suffix)'),
  logprobs: unsupportedUnless(isNothing, 'Telling probabilities (logprobs)'),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
});

/** Reads the body of `POST /v1/completions`. */
export function readTextRequest(body: unknown): Read<AnswerPlan> {
  const read = readWith(textRequestSchema, body);
  if (!read.ok) return read;
  const data = read.data;
  const [text, ...more] = typeof data.prompt === 'string' ? [data.prompt] : data.prompt;
  if (text === undefined || text === '') return refuseField('prompt', 'there is no text');
  if (more.length > 0) return refuseField('prompt', 'one text at a time is supported', 'unsupported_value');
  return {
    ok: true,
    data: {
      model: toModel(data.model),
      stream: data.stream === true,
      request: {
        prompt: { kind: 'text', text },
        sampling: toSampling(data, data.max_tokens),
        logitBias: toLogitBias(data.logit_bias),
        stop: toStops(data.stop),
        output: { kind: 'text' },
        tools: null,
      },
      format: (head) => new OpenAiTextFormat(head, data.stream_options?.include_usage === true),
    },
  };
}

/** `text_completion`, whole and in pieces. */
export class OpenAiTextFormat implements AnswerFormat {
  readonly #head: { readonly id: string; readonly created: number; readonly model: string };
  readonly #includeUsage: boolean;

  constructor({ id, created, model }: ReplyHead, includeUsage: boolean) {
    this.#head = { id, created, model };
    this.#includeUsage = includeUsage;
  }

  whole({ text, thought, end, timings }: Completion) {
    return {
      ...this.#piece(thought + text, finishReason(end)),
      usage: usageOf(timings),
      timings: llamaTimings(timings),
    };
  }

  opening(): readonly StreamEvent[] {
    return [];
  }

  part(part: AnswerPart): readonly StreamEvent[] {
    // A text that is continued as it stands has no thoughts: what looks like one belongs to it.
    return part.kind === 'tool_call' ? [] : [{ data: this.#piece(part.text, null) }];
  }

  closing({ end, timings }: Completion): readonly StreamEvent[] {
    const finish = this.#piece('', finishReason(end));
    const figures = { timings: llamaTimings(timings) };
    const usage = { ...this.#piece('', null), choices: [], usage: usageOf(timings), ...figures };
    const pieces = this.#includeUsage ? [finish, usage] : [{ ...finish, ...figures }];
    return [...pieces.map((data) => ({ data })), { data: '[DONE]' }];
  }

  failure(refusal: Refusal): readonly StreamEvent[] {
    return [{ data: apiErrorBody(refusal) }];
  }

  #piece(text: string, reason: 'stop' | 'length' | null) {
    const choices = [{ index: 0, text, logprobs: null, finish_reason: reason }];
    return { ...this.#head, object: 'text_completion' as const, choices };
  }
}

function finishReason(end: Completion['end']): 'stop' | 'length' {
  return end === 'max_tokens' || end === 'context_full' ? 'length' : 'stop';
}
