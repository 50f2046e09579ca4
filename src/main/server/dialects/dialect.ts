import type { AnswerPart, Completion, CompletionRequest } from '../../services/interfaces.ts';
import type { Area, Refusal } from '../replies.ts';

export type Read<T> = { readonly ok: true; readonly data: T } | { readonly ok: false; readonly refusal: Refusal };

/** What every piece of one answer repeats. */
export type ReplyHead = {
  readonly id: string;
  /** Unix time in seconds. */
  readonly created: number;
  readonly model: string;
  /** Makes ids for parts of the answer. */
  readonly newId: (prefix: string) => string;
};

export type StreamEvent = { readonly event?: string; readonly data: object | '[DONE]' };

/** Writes one answer, whole or as a stream: `opening`, `part` for each piece, then `closing` or `failure`. */
export interface AnswerFormat {
  whole(completion: Completion): object;
  opening(): readonly StreamEvent[];
  part(part: AnswerPart): readonly StreamEvent[];
  closing(completion: Completion): readonly StreamEvent[];
  /** Of a stream that has begun: its status cannot change any more. */
  failure(refusal: Refusal): readonly StreamEvent[];
}

export type AnswerPlan = {
  readonly request: Omit<CompletionRequest, 'model'>;
  /** As asked for, maybe an alias; null: whatever is loaded. */
  readonly model: string | null;
  readonly stream: boolean;
  readonly format: (head: ReplyHead) => AnswerFormat;
};

export type AnswerDialect = {
  readonly path: string;
  readonly area: Area;
  readonly idPrefix: string;
  readonly read: (body: unknown) => Read<AnswerPlan>;
  /** Names of the fields that an error of the engine is about. */
  readonly params: { readonly prompt: string; readonly schema: string };
  /** What is sent while nothing else is; absent: a comment line, which every reader skips. */
  readonly heartbeat?: StreamEvent;
};
