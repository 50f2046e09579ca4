import { z } from 'zod';
import type { ChatTurn, OutputFormat, ToolCall } from '../../services/interfaces.ts';
import type { AnswerPlan, Read } from './dialect.ts';
import { OpenAiResponsesFormat } from './openai-responses-format.ts';
import { isNothing, readWith, refuseField, unsupportedUnless } from './read-request.ts';
import {
  assistantTurn,
  callArguments,
  callId,
  checkTurns,
  joinText,
  maxTokensField,
  modelField,
  samplingFields,
  schemaField,
  textContent,
  toModel,
  toolName,
  toSampling,
  toToolUse,
  typeWord,
} from './request-fields.ts';

const content = textContent(['input_text', 'output_text', 'text']);

const message = z.object({
  type: z.literal('message').optional(),
  role: z.enum(['system', 'developer', 'user', 'assistant']),
  content,
});
const call = z.object({ type: z.literal('function_call'), call_id: callId, name: toolName, arguments: callArguments });
const callOutput = z.object({ type: z.literal('function_call_output'), call_id: callId, output: content });
/** Thoughts of earlier answers: templates leave them out. */
const reasoning = z.object({ type: z.literal('reasoning') });
const itemTypes = ['message', 'function_call', 'function_call_output', 'reasoning'];
const item = z.union([message, call, callOutput, reasoning], {
  error: ({ input }) => {
    const type = typeWord(input);
    return type !== null && !itemTypes.includes(type)
      ? `an item of type "${type.slice(0, 40)}" is not supported`
      : 'expected a message, a function_call or a function_call_output';
  },
});

const tool = z.object({
  type: z.literal('function', { error: 'only tools of type "function" are supported' }),
  name: toolName,
  description: z.string().nullish(),
  parameters: schemaField.nullish(),
  strict: z.boolean().nullish(),
});

const format = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text') }),
  z.object({ type: z.literal('json_object') }),
  z.object({
    type: z.literal('json_schema'),
    name: z.string().max(64).nullish(),
    description: z.string().nullish(),
    schema: schemaField,
    strict: z.boolean().nullish(),
  }),
]);

const storing = 'Storing answers (this server keeps none; send the whole conversation each time)';

/** The body of `POST /v1/responses`. Unknown fields are ignored. */
export const responsesRequestSchema = z.object({
  model: modelField,
  input: z.union([z.string(), z.array(item).min(1).max(10_000)], { error: 'expected a text or a list of items' }),
  instructions: z.string().nullish(),
  temperature: samplingFields.temperature,
  top_p: samplingFields.top_p,
  max_output_tokens: maxTokensField,
  tools: z.array(tool).nullish(),
  tool_choice: z
    .union([z.enum(['none', 'auto', 'required']), z.object({ type: z.literal('function'), name: z.string() })], {
      error: 'expected "none", "auto", "required" or {"type": "function", "name": ...}',
    })
    .nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  text: z.object({ format: format.nullish() }).nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
  stream: z.boolean().nullish(),
  store: unsupportedUnless((value) => value === false, storing),
  previous_response_id: unsupportedUnless(() => false, `${storing}: "previous_response_id"`),
  conversation: unsupportedUnless(() => false, `${storing}: "conversation"`),
  background: unsupportedUnless(isNothing, 'Answering in the background'),
  prompt: unsupportedUnless(() => false, 'A stored prompt'),
  top_logprobs: unsupportedUnless(isNothing, 'Telling probabilities (top_logprobs)'),
});

export type ResponsesRequest = z.output<typeof responsesRequestSchema>;

/** Reads the body of `POST /v1/responses`. */
export function readResponsesRequest(body: unknown): Read<AnswerPlan> {
  const read = readWith(responsesRequestSchema, body);
  if (!read.ok) return read;
  const data = read.data;
  const turns = checkTurns(toTurns(data), 'input');
  if (!turns.ok) return turns;
  const asked = data.tool_choice ?? 'auto';
  const tools = toToolUse({
    tools: data.tools ?? [],
    choice: typeof asked === 'string' ? asked : { name: asked.name },
    parallel: data.parallel_tool_calls ?? true,
  });
  if (!tools.ok) return tools;
  const output = toOutput(data);
  if (tools.data !== null && tools.data.choice !== 'auto' && output.kind !== 'text') {
    return refuseField('text.format', 'a forced tool call and a format of the text exclude each other');
  }
  return {
    ok: true,
    data: {
      model: toModel(data.model),
      stream: data.stream === true,
      request: {
        prompt: { kind: 'chat', turns: turns.data },
        sampling: toSampling(data, data.max_output_tokens),
        logitBias: new Map(),
        stop: [],
        output,
        tools: tools.data,
      },
      format: (head) => new OpenAiResponsesFormat(head, data),
    },
  };
}

/** Items as turns: calls join the assistant's message before them. */
function toTurns({ input, instructions }: ResponsesRequest): readonly ChatTurn[] {
  const turns: ChatTurn[] = [];
  if (typeof instructions === 'string' && instructions !== '') turns.push({ role: 'system', text: instructions });
  if (typeof input === 'string') return [...turns, { role: 'user', text: input }];
  for (const entry of input) {
    switch (entry.type) {
      case 'function_call':
        joinCall(turns, { id: entry.call_id, name: entry.name, arguments: entry.arguments });
        break;
      case 'function_call_output':
        turns.push({ role: 'tool', callId: entry.call_id, text: joinText(entry.output) });
        break;
      case 'reasoning':
        break;
      case 'message':
      case undefined: {
        const role = entry.role === 'developer' ? 'system' : entry.role;
        turns.push({ role, text: joinText(entry.content) });
      }
    }
  }
  return turns;
}

function joinCall(turns: ChatTurn[], toolCall: ToolCall): void {
  const last = turns.at(-1);
  if (last?.role !== 'assistant') turns.push(assistantTurn('', [toolCall]));
  else turns[turns.length - 1] = assistantTurn(last.text, [...(last.toolCalls ?? []), toolCall]);
}

function toOutput({ text }: ResponsesRequest): OutputFormat {
  switch (text?.format?.type) {
    case undefined:
    case 'text':
      return { kind: 'text' };
    case 'json_object':
      return { kind: 'json' };
    case 'json_schema':
      return { kind: 'json_schema', schema: text.format.schema };
  }
}
