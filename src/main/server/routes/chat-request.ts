import { z } from 'zod';
import { samplingSchema, type Sampling } from '../../contract/index.ts';
import type { ChatTurn } from '../../services/interfaces.ts';
import type { Refusal } from '../replies.ts';
import { findUnsupported, isRecord, type Problem } from './chat-unsupported.ts';

export type ChatRequest = {
  /** null: whatever is loaded. */
  readonly model: string | null;
  readonly turns: readonly ChatTurn[];
  readonly sampling: Sampling;
  readonly stop: readonly string[];
  readonly stream: boolean;
  readonly includeUsage: boolean;
};

export type ParsedChatRequest =
  { readonly ok: true; readonly data: ChatRequest } | { readonly ok: false; readonly refusal: Refusal };

const sampling = samplingSchema.shape;
const stopSchema = z.string().min(1).max(1000);

const textPartSchema = z.object({ type: z.literal('text'), text: z.string() });
const messageSchema = z.object({
  role: z.enum(['system', 'developer', 'user', 'assistant']),
  content: z.union([z.string(), z.array(textPartSchema).min(1)], {
    error: 'expected a text, or a list of {"type": "text", "text": ...}',
  }),
});

/** Unknown fields are ignored; those that would change the answer are refused before this. */
const requestSchema = z.object({
  model: z.string().nullish(),
  messages: z.array(messageSchema).min(1).max(10_000),
  temperature: sampling.temperature.nullable(),
  top_p: sampling.topP.nullable(),
  top_k: sampling.topK.nullable(),
  min_p: sampling.minP.nullable(),
  repeat_penalty: sampling.repeatPenalty.nullable(),
  seed: sampling.seed.nullable(),
  max_tokens: sampling.maxTokens.nullable(),
  max_completion_tokens: sampling.maxTokens.nullable(),
  stop: z
    .union([stopSchema, z.array(stopSchema).max(16)], {
      error: 'expected a text or up to 16 texts, none of them empty',
    })
    .nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
});

/** Reads the body of `POST /v1/chat/completions`. */
export function parseChatRequest(body: unknown): ParsedChatRequest {
  if (!isRecord(body)) return refuse({ param: null, code: 'invalid_type', message: 'The body must be a JSON object.' });
  const unsupported = findUnsupported(body);
  if (unsupported !== null) return refuse(unsupported);
  const parsed = requestSchema.safeParse(body);
  if (!parsed.success) return refuse(firstIssue(parsed.error));
  const data = parsed.data;
  return {
    ok: true,
    data: {
      model: data.model === undefined || data.model === null || data.model === 'default' ? null : data.model,
      turns: data.messages.map(toTurn),
      sampling: toSampling(data),
      stop: typeof data.stop === 'string' ? [data.stop] : (data.stop ?? []),
      stream: data.stream === true,
      includeUsage: data.stream_options?.include_usage === true,
    },
  };
}

function toTurn(message: z.infer<typeof messageSchema>): ChatTurn {
  const { role, content } = message;
  return {
    role: role === 'developer' ? 'system' : role,
    text: typeof content === 'string' ? content : content.map((part) => part.text).join('\n'),
  };
}

function toSampling(data: z.infer<typeof requestSchema>): Sampling {
  const values: { [N in keyof Sampling]: Sampling[N] | null } = {
    temperature: data.temperature,
    topP: data.top_p,
    topK: data.top_k,
    minP: data.min_p,
    repeatPenalty: data.repeat_penalty,
    seed: data.seed,
    maxTokens: data.max_completion_tokens ?? data.max_tokens,
  };
  // Absent, not undefined: absent is what lets the flags and the model card decide.
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== null));
}

function firstIssue(error: z.ZodError): Problem {
  const issue = error.issues[0];
  const param = (issue?.path ?? []).reduce<string>(
    (text, key) => (typeof key === 'number' ? `${text}[${key}]` : text === '' ? String(key) : `${text}.${String(key)}`),
    '',
  );
  return { param, code: 'invalid_value', message: `${param}: ${issue?.message ?? 'not valid'}` };
}

function refuse({ param, code, message }: Problem): ParsedChatRequest {
  return { ok: false, refusal: { status: 400, code, message, ...(param === null ? {} : { param }) } };
}
