import { z } from 'zod';
import type { ChatTurn, OutputFormat, ToolUse } from '../../services/interfaces.ts';
import type { AnswerPlan, Read } from './dialect.ts';
import { OpenAiChatFormat } from './openai-chat-format.ts';
import { isNothing, readWith, unsupportedUnless } from './read-request.ts';
import {
  assistantTurn,
  callArguments,
  callId,
  checkTurns,
  joinText,
  logitBiasField,
  maxTokensField,
  modelField,
  samplingFields,
  schemaField,
  stopField,
  textContent,
  toLogitBias,
  toModel,
  toolName,
  toSampling,
  toStops,
  toToolUse,
} from './request-fields.ts';

const content = textContent(['text']);
const answerContent = textContent(['text', 'refusal']);
const callSchema = z.object({
  id: callId,
  type: z.literal('function').nullish(),
  function: z.object({ name: toolName, arguments: callArguments }),
});

const messageSchema = z.discriminatedUnion('role', [
  z.object({ role: z.enum(['system', 'developer']), content }),
  z.object({ role: z.literal('user'), content }),
  z.object({
    role: z.literal('assistant'),
    content: answerContent.nullish(),
    tool_calls: z.array(callSchema).max(128).nullish(),
    function_call: unsupportedUnless(isNothing, 'The old "function_call"'),
    audio: unsupportedUnless(isNothing, 'Audio'),
  }),
  z.object({ role: z.literal('tool'), tool_call_id: callId, content }),
]);

const toolSchema = z.object({
  type: z.literal('function', { error: 'only tools of type "function" are supported' }),
  function: z.object({
    name: toolName,
    description: z.string().nullish(),
    parameters: schemaField.nullish(),
    strict: z.boolean().nullish(),
  }),
});

const choiceSchema = z.union(
  [
    z.enum(['none', 'auto', 'required']),
    z.object({ type: z.literal('function'), function: z.object({ name: z.string() }) }),
  ],
  { error: 'expected "none", "auto", "required" or {"type": "function", "function": {"name": ...}}' },
);

export const responseFormatSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text') }),
  z.object({ type: z.literal('json_object') }),
  z.object({
    type: z.literal('json_schema'),
    json_schema: z.object({
      name: z.string().max(64).nullish(),
      description: z.string().nullish(),
      schema: schemaField,
      strict: z.boolean().nullish(),
    }),
  }),
]);

/** The body of `POST /v1/chat/completions`. Unknown fields are ignored. */
export const chatRequestSchema = z.object({
  model: modelField,
  messages: z.array(messageSchema).min(1).max(10_000),
  ...samplingFields,
  max_tokens: maxTokensField,
  max_completion_tokens: maxTokensField,
  stop: stopField,
  logit_bias: logitBiasField,
  n: unsupportedUnless((value) => value === 1, 'More than one answer (n other than 1)'),
  response_format: responseFormatSchema.nullish(),
  tools: z.array(toolSchema).nullish(),
  tool_choice: choiceSchema.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  logprobs: unsupportedUnless(isNothing, 'Telling probabilities (logprobs)'),
  top_logprobs: unsupportedUnless(isNothing, 'Telling probabilities (top_logprobs)'),
  functions: unsupportedUnless(isNothing, 'The old "functions" (use "tools")'),
  function_call: unsupportedUnless((value) => value === 'none' || value === 'auto', 'The old "function_call"'),
  modalities: unsupportedUnless(
    (value) => Array.isArray(value) && value.every((kind) => kind === 'text'),
    'A modality other than text',
  ),
  audio: unsupportedUnless(isNothing, 'Audio'),
  web_search_options: unsupportedUnless(() => false, 'Web search'),
  grammar: unsupportedUnless(isNothing, 'A grammar (use response_format)'),
  json_schema: unsupportedUnless(isNothing, 'A bare "json_schema" (use response_format)'),
});

type ChatRequest = z.output<typeof chatRequestSchema>;

/** Reads the body of `POST /v1/chat/completions`. */
export function readChatRequest(body: unknown): Read<AnswerPlan> {
  const read = readWith(chatRequestSchema, body);
  if (!read.ok) return read;
  const data = read.data;
  const turns = checkTurns(data.messages.map(toTurn), 'messages');
  if (!turns.ok) return turns;
  const tools = readTools(data);
  if (!tools.ok) return tools;
  return {
    ok: true,
    data: {
      model: toModel(data.model),
      stream: data.stream === true,
      request: {
        prompt: { kind: 'chat', turns: turns.data },
        sampling: toSampling(data, data.max_completion_tokens ?? data.max_tokens),
        logitBias: toLogitBias(data.logit_bias),
        stop: toStops(data.stop),
        output: toOutput(data.response_format),
        tools: tools.data,
      },
      format: (head) => new OpenAiChatFormat(head, data.stream_options?.include_usage === true),
    },
  };
}

function toTurn(message: z.infer<typeof messageSchema>): ChatTurn {
  switch (message.role) {
    case 'system':
    case 'developer':
      return { role: 'system', text: joinText(message.content) };
    case 'user':
      return { role: 'user', text: joinText(message.content) };
    case 'assistant': {
      const calls = (message.tool_calls ?? []).map(({ id, function: { name, arguments: text } }) => ({
        ...{ id, name, arguments: text },
      }));
      return assistantTurn(joinText(message.content), calls);
    }
    case 'tool':
      return { role: 'tool', callId: message.tool_call_id, text: joinText(message.content) };
  }
}

function readTools(data: ChatRequest): Read<ToolUse | null> {
  const asked = data.tool_choice ?? 'auto';
  return toToolUse({
    tools: (data.tools ?? []).map((tool) => tool.function),
    choice: typeof asked === 'string' ? asked : { name: asked.function.name },
    parallel: data.parallel_tool_calls ?? true,
  });
}

function toOutput(format: ChatRequest['response_format']): OutputFormat {
  switch (format?.type) {
    case undefined:
    case 'text':
      return { kind: 'text' };
    case 'json_object':
      return { kind: 'json' };
    case 'json_schema':
      return { kind: 'json_schema', schema: format.json_schema.schema };
  }
}
