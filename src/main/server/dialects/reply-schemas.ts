import { z } from 'zod';

/** What the API answers with, as `/openapi.json` tells it. Fields may be added, none is renamed. */

const tokens = z.number().int().min(0);
const unixSeconds = z.number().int();

export const errorReplySchema = z.object({
  error: z.object({ message: z.string(), type: z.string(), param: z.string().nullable(), code: z.string() }),
});

export const messagesErrorSchema = z.object({
  type: z.literal('error'),
  error: z.object({ type: z.string(), message: z.string() }),
});

const modelSchema = z.object({
  id: z.string(),
  object: z.literal('model'),
  created: unixSeconds,
  owned_by: z.string(),
  alias_of: z.string().optional(),
});
export const modelReplySchema = modelSchema;
export const modelsReplySchema = z.object({ object: z.literal('list'), data: z.array(modelSchema) });

const usageSchema = z.object({
  prompt_tokens: tokens,
  completion_tokens: tokens,
  total_tokens: tokens,
  prompt_tokens_details: z.object({ cached_tokens: tokens }),
});

const timingsSchema = z.object({
  cache_n: tokens,
  prompt_n: tokens,
  prompt_ms: z.number(),
  predicted_n: tokens,
  predicted_ms: z.number(),
  predicted_per_second: z.number().nullable(),
});

const toolCallSchema = z.object({
  id: z.string(),
  type: z.literal('function'),
  function: z.object({ name: z.string(), arguments: z.string() }),
});
const reasonSchema = z.enum(['stop', 'length', 'tool_calls']);
const answerHead = { id: z.string(), created: unixSeconds, model: z.string() };

export const chatReplySchema = z.object({
  ...answerHead,
  object: z.literal('chat.completion'),
  choices: z.array(
    z.object({
      index: z.literal(0),
      message: z.object({
        role: z.literal('assistant'),
        content: z.string().nullable(),
        refusal: z.null(),
        reasoning_content: z.string().optional(),
        tool_calls: z.array(toolCallSchema).optional(),
      }),
      logprobs: z.null(),
      finish_reason: reasonSchema,
    }),
  ),
  usage: usageSchema,
  timings: timingsSchema,
});

const callDeltaSchema = z.object({
  index: tokens,
  id: z.string().optional(),
  type: z.literal('function').optional(),
  function: z.object({ name: z.string().optional(), arguments: z.string() }),
});

export const chatChunkSchema = z.object({
  ...answerHead,
  object: z.literal('chat.completion.chunk'),
  choices: z.array(
    z.object({
      index: z.literal(0),
      delta: z.object({
        role: z.literal('assistant').optional(),
        content: z.string().optional(),
        reasoning_content: z.string().optional(),
        tool_calls: z.array(callDeltaSchema).optional(),
      }),
      logprobs: z.null(),
      finish_reason: reasonSchema.nullable(),
    }),
  ),
  usage: usageSchema.optional(),
  timings: timingsSchema.optional(),
});

export const textReplySchema = z.object({
  ...answerHead,
  object: z.literal('text_completion'),
  choices: z.array(
    z.object({
      index: z.literal(0),
      text: z.string(),
      logprobs: z.null(),
      finish_reason: z.enum(['stop', 'length']).nullable(),
    }),
  ),
  usage: usageSchema.optional(),
  timings: timingsSchema.optional(),
});

export const embeddingsReplySchema = z.object({
  object: z.literal('list'),
  data: z.array(
    z.object({
      object: z.literal('embedding'),
      index: tokens,
      embedding: z.union([z.array(z.number()), z.string()]),
    }),
  ),
  model: z.string(),
  usage: z.object({ prompt_tokens: tokens, total_tokens: tokens }),
});

const itemStatus = z.enum(['in_progress', 'completed', 'incomplete']);
const outputItemSchema = z.discriminatedUnion('type', [
  z.object({
    id: z.string(),
    type: z.literal('message'),
    status: itemStatus,
    role: z.literal('assistant'),
    content: z.array(
      z.object({
        type: z.literal('output_text'),
        text: z.string(),
        annotations: z.array(z.never()),
        logprobs: z.array(z.never()),
      }),
    ),
  }),
  z.object({
    id: z.string(),
    type: z.literal('reasoning'),
    status: itemStatus,
    summary: z.array(z.never()),
    content: z.array(z.object({ type: z.literal('reasoning_text'), text: z.string() })),
  }),
  z.object({
    id: z.string(),
    type: z.literal('function_call'),
    status: itemStatus,
    call_id: z.string(),
    name: z.string(),
    arguments: z.string(),
  }),
]);

export const responseReplySchema = z.object({
  id: z.string(),
  object: z.literal('response'),
  created_at: unixSeconds,
  status: z.enum(['in_progress', 'completed', 'incomplete', 'failed']),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  incomplete_details: z.object({ reason: z.string() }).nullable(),
  background: z.literal(false),
  completed_at: unixSeconds.nullable(),
  instructions: z.string().nullable(),
  max_output_tokens: tokens.nullable(),
  metadata: z.record(z.string(), z.string()),
  parallel_tool_calls: z.boolean(),
  temperature: z.number().nullable(),
  text: z.looseObject({}),
  tool_choice: z.unknown(),
  tools: z.array(z.unknown()),
  top_p: z.number().nullable(),
  truncation: z.literal('disabled'),
  timings: timingsSchema,
  model: z.string(),
  output: z.array(outputItemSchema),
  previous_response_id: z.null(),
  store: z.literal(false),
  usage: z
    .object({
      input_tokens: tokens,
      input_tokens_details: z.object({ cached_tokens: tokens }),
      output_tokens: tokens,
      output_tokens_details: z.object({ reasoning_tokens: tokens }),
      total_tokens: tokens,
    })
    .nullable(),
});

export const responseEventSchema = z.looseObject({ type: z.string(), sequence_number: tokens });

export const messageReplySchema = z.object({
  id: z.string(),
  type: z.literal('message'),
  role: z.literal('assistant'),
  model: z.string(),
  content: z.array(
    z.discriminatedUnion('type', [
      z.object({ type: z.literal('text'), text: z.string() }),
      z.object({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() }),
      z.object({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: z.unknown() }),
    ]),
  ),
  stop_reason: z.enum(['end_turn', 'max_tokens', 'stop_sequence', 'tool_use']),
  stop_sequence: z.string().nullable(),
  usage: z.object({
    input_tokens: tokens,
    cache_creation_input_tokens: tokens,
    cache_read_input_tokens: tokens,
    output_tokens: tokens,
  }),
  timings: timingsSchema,
});

export const messageEventSchema = z.looseObject({
  type: z.enum([
    ...(['message_start', 'content_block_start', 'content_block_delta', 'content_block_stop'] as const),
    ...(['message_delta', 'message_stop', 'ping', 'error'] as const),
  ]),
});

export const countReplySchema = z.object({ input_tokens: tokens });

export const healthReplySchema = z.object({
  status: z.literal('ok'),
  service: z.literal('dormouse'),
  version: z.string(),
});

export const statusReplySchema = z.looseObject({
  service: z.literal('dormouse'),
  version: z.string(),
  engine: z.looseObject({ state: z.string(), since: z.number(), model: z.looseObject({ id: z.string() }).nullable() }),
  pool: z.looseObject({ installed: z.boolean(), threads: tokens, workers: z.array(z.looseObject({ id: tokens })) }),
  cpu: z.looseObject({ coresLast10s: z.number().nullable() }),
  ladder: z.looseObject({ step: z.string(), since: z.number() }),
  placement: z.unknown(),
  lastTimings: timingsSchema.nullable(),
  queue: z.looseObject({ running: tokens, waiting: tokens }),
});

export const loadReplySchema = z.object({
  status: z.literal('loaded'),
  model: z.object({ id: z.string(), name: z.string(), path: z.string(), contextSize: tokens }),
});

export const unloadReplySchema = z.object({ status: z.literal('unloaded') });
