import { z } from 'zod';
import type { ChatTurn, ToolCall } from '../../services/interfaces.ts';
import { AnthropicFormat } from './anthropic-format.ts';
import type { AnswerPlan, Read } from './dialect.ts';
import { isNothing, readWith, unsupportedUnless } from './read-request.ts';
import {
  assistantTurn,
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

const text = textContent(['text']);
const unsupportedBlock = ({ input }: { input?: unknown }) => {
  const type = typeWord(input);
  return type === null
    ? 'expected a block with a type'
    : `a block of type "${type.slice(0, 40)}" is not supported here`;
};

const block = z.discriminatedUnion(
  'type',
  [
    z.object({ type: z.literal('text'), text: z.string() }),
    // Thoughts of earlier answers: templates leave them out.
    z.object({ type: z.enum(['thinking', 'redacted_thinking']) }),
    z.object({ type: z.literal('tool_use'), id: callId, name: toolName, input: schemaField }),
    z.object({
      type: z.literal('tool_result'),
      tool_use_id: callId,
      content: text.nullish(),
      is_error: z.boolean().nullish(),
    }),
  ],
  { error: unsupportedBlock },
);
type Block = z.output<typeof block>;

const messageSchema = z.object({
  role: z.enum(['user', 'assistant', 'system']),
  content: z.union([z.string(), z.array(block).max(10_000)], { error: 'expected a text or a list of blocks' }),
});

const toolSchema = z.object({
  type: z.literal('custom', { error: 'only tools of your own (with an input_schema) are supported' }).nullish(),
  name: toolName,
  description: z.string().nullish(),
  input_schema: schemaField,
});

const parallel = { disable_parallel_tool_use: z.boolean().nullish() };
const choiceSchema = z.discriminatedUnion('type', [
  z.object({ type: z.enum(['auto', 'any']), ...parallel }),
  z.object({ type: z.literal('tool'), name: z.string(), ...parallel }),
  z.object({ type: z.literal('none') }),
]);

const promptFields = {
  model: modelField,
  messages: z.array(messageSchema).min(1).max(10_000),
  system: text.nullish(),
  tools: z.array(toolSchema).nullish(),
  tool_choice: choiceSchema.nullish(),
  mcp_servers: unsupportedUnless(isNothing, 'MCP servers'),
  container: unsupportedUnless(isNothing, 'A container'),
};

/** The body of `POST /v1/messages/count_tokens`. */
export const countRequestSchema = z.object(promptFields);

/** The body of `POST /v1/messages`. Unknown fields are ignored; `thinking` is a hint that a local model may not heed. */
export const messagesRequestSchema = z.object({
  ...promptFields,
  max_tokens: maxTokensField.unwrap().unwrap(),
  stop_sequences: z.array(z.string().min(1).max(1000)).max(16).nullish(),
  stream: z.boolean().nullish(),
  temperature: samplingFields.temperature,
  top_p: samplingFields.top_p,
  top_k: samplingFields.top_k,
  thinking: z.object({ type: z.string(), budget_tokens: z.number().int().nullish() }).nullish(),
});

type PromptPart = Pick<AnswerPlan['request'], 'prompt' | 'tools'> & { readonly model: string | null };

/** Reads the body of `POST /v1/messages/count_tokens`. */
export function readCountRequest(body: unknown): Read<PromptPart> {
  const read = readWith(countRequestSchema, body);
  return read.ok ? readPrompt(read.data) : read;
}

/** Reads the body of `POST /v1/messages`. */
export function readMessagesRequest(body: unknown): Read<AnswerPlan> {
  const read = readWith(messagesRequestSchema, body);
  if (!read.ok) return read;
  const data = read.data;
  const asked = readPrompt(data);
  if (!asked.ok) return asked;
  const { model, prompt, tools } = asked.data;
  const stop = data.stop_sequences ?? [];
  return {
    ok: true,
    data: {
      model,
      stream: data.stream === true,
      request: {
        prompt,
        tools,
        sampling: toSampling(data, data.max_tokens),
        logitBias: new Map(),
        stop,
        output: { kind: 'text' },
      },
      format: (head) => new AnthropicFormat(head, stop),
    },
  };
}

function readPrompt(data: z.output<typeof countRequestSchema>): Read<PromptPart> {
  const system = joinText(data.system);
  const turns = checkTurns(
    [...(system === '' ? [] : [{ role: 'system' as const, text: system }]), ...data.messages.flatMap(toTurns)],
    'messages',
  );
  if (!turns.ok) return turns;
  const tools = toToolUse({
    tools: (data.tools ?? []).map(({ name, description, input_schema: parameters }) => ({
      ...{ name, description, parameters },
    })),
    ...toChoice(data.tool_choice),
  });
  if (!tools.ok) return tools;
  return {
    ok: true,
    data: { model: toModel(data.model), prompt: { kind: 'chat', turns: turns.data }, tools: tools.data },
  };
}

function toChoice(choice: z.output<typeof choiceSchema> | null | undefined) {
  switch (choice?.type) {
    case undefined:
      return { choice: 'auto' as const, parallel: true };
    case 'none':
      return { choice: 'none' as const, parallel: true };
    case 'auto':
    case 'any':
      return {
        choice: choice.type === 'any' ? ('required' as const) : ('auto' as const),
        parallel: choice.disable_parallel_tool_use !== true,
      };
    case 'tool':
      return { choice: { name: choice.name }, parallel: choice.disable_parallel_tool_use !== true };
  }
}

/** One message may hold several answers of tools, and a text behind them: each is a turn of its own. */
function toTurns({ role, content }: z.output<typeof messageSchema>): readonly ChatTurn[] {
  if (typeof content === 'string') return [{ role, text: content }];
  if (role === 'assistant') {
    return [assistantTurn(joinText(content.filter(isText)), content.filter(isCall).map(toCall))];
  }
  const turns: ChatTurn[] = [];
  let texts: string[] = [];
  const endText = () => {
    if (texts.length > 0) turns.push({ role, text: texts.join('\n') });
    texts = [];
  };
  for (const piece of content) {
    if (piece.type === 'text') texts.push(piece.text);
    if (piece.type !== 'tool_result') continue;
    endText();
    const answer = joinText(piece.content);
    turns.push({
      role: 'tool',
      callId: piece.tool_use_id,
      text: piece.is_error === true ? `Error: ${answer}` : answer,
    });
  }
  endText();
  return turns;
}

function isText(piece: Block): piece is Extract<Block, { type: 'text' }> {
  return piece.type === 'text';
}

function isCall(piece: Block): piece is Extract<Block, { type: 'tool_use' }> {
  return piece.type === 'tool_use';
}

function toCall({ id, name, input }: Extract<Block, { type: 'tool_use' }>): ToolCall {
  return { id, name, arguments: JSON.stringify(input) };
}
