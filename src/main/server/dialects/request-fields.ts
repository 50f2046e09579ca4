import { z } from 'zod';
import { samplingSchema, type Sampling } from '../../contract/index.ts';
import type { ChatTurn, ToolCall, ToolUse } from '../../services/interfaces.ts';
import type { Read } from './dialect.ts';
import { refuseField } from './read-request.ts';

const sampling = samplingSchema.shape;
const maxStops = 16;
const maxTools = 128;

/** Sampling as OpenAI and llama.cpp name it. null and absent both leave it to the flags and the model card. */
export const samplingFields = {
  temperature: sampling.temperature.nullable(),
  top_p: sampling.topP.nullable(),
  top_k: sampling.topK.nullable(),
  min_p: sampling.minP.nullable(),
  repeat_penalty: sampling.repeatPenalty.nullable(),
  frequency_penalty: sampling.frequencyPenalty.nullable(),
  presence_penalty: sampling.presencePenalty.nullable(),
  seed: sampling.seed.nullable(),
};

export const maxTokensField = sampling.maxTokens.nullable();

const stopText = z.string().min(1).max(1000);
export const stopField = z
  .union([stopText, z.array(stopText).max(maxStops)], {
    error: `expected a text or up to ${maxStops} texts, none of them empty`,
  })
  .nullish();

export const logitBiasField = z
  .record(z.string().regex(/^\d{1,9}$/, 'expected the id of a token'), z.number().min(-100).max(100))
  .refine((bias) => Object.keys(bias).length <= 1024, 'at most 1024 tokens')
  .nullish();

export const modelField = z.string().min(1).max(1000).nullish();

export const toolName = z
  .string()
  .regex(/^[a-zA-Z0-9_-]{1,64}$/, 'expected a tool name of 1 to 64 letters, digits, "_" or "-"');
/** The id of a tool call, as it went out or as a client made it up. */
export const callId = z.string().min(1).max(200);
export const schemaField = z.record(z.string(), z.unknown());
export const callArguments = z
  .string()
  .refine((text) => isJsonObject(text), 'expected the arguments as text of a JSON object');

/** What an object calls its `type`; null where it is no object or has no such text. */
export function typeWord(input: unknown): string | null {
  const type: unknown = typeof input === 'object' && input !== null && 'type' in input ? input.type : null;
  return typeof type === 'string' ? type : null;
}

/** Text, whole or in parts. Anything else (images, audio, files) is refused by its name. */
export function textContent(kinds: readonly [string, ...string[]]) {
  const error = ({ input }: { input?: unknown }) =>
    typeof input === 'string'
      ? `content of type "${input.slice(0, 40)}" is not supported, only text`
      : 'expected the type of the part';
  const part = z.object({ type: z.enum(kinds, { error }), text: z.string() });
  return z.union([z.string(), z.array(part).max(10_000)], {
    error: 'expected a text, or a list of parts with a type and a text',
  });
}

export function joinText(content: z.infer<ReturnType<typeof textContent>> | null | undefined): string {
  if (content === null || content === undefined) return '';
  return typeof content === 'string' ? content : content.map((part) => part.text).join('\n');
}

type SamplingValues = { readonly [N in keyof typeof samplingFields]?: number | null | undefined };

export function toSampling(data: SamplingValues, maxTokens: number | null | undefined): Sampling {
  const values: { [N in keyof Sampling]: Sampling[N] | null | undefined } = {
    temperature: data.temperature,
    topP: data.top_p,
    topK: data.top_k,
    minP: data.min_p,
    repeatPenalty: data.repeat_penalty,
    frequencyPenalty: data.frequency_penalty,
    presencePenalty: data.presence_penalty,
    seed: data.seed,
    maxTokens,
  };
  // Absent, not undefined: absent is what lets the flags and the model card decide.
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== null));
}

export function toStops(stop: z.infer<typeof stopField>): readonly string[] {
  return typeof stop === 'string' ? [stop] : (stop ?? []);
}

export function toLogitBias(bias: z.infer<typeof logitBiasField>): ReadonlyMap<number, number> {
  return new Map(Object.entries(bias ?? {}).map(([id, value]) => [Number(id), value]));
}

/** `default` is what programs send that must send some model. */
export function toModel(model: string | null | undefined): string | null {
  return model === undefined || model === null || model === 'default' ? null : model;
}

type AskedTool = {
  readonly name: string;
  readonly description?: string | null | undefined;
  readonly parameters?: Readonly<Record<string, unknown>> | null | undefined;
};

export type AskedTools = {
  readonly tools: readonly AskedTool[];
  readonly choice: 'none' | ToolUse['choice'];
  readonly parallel: boolean;
};

/** Checks what a schema cannot: names that are used twice, a choice of a tool that is not there. */
export function toToolUse({ tools, choice, parallel }: AskedTools): Read<ToolUse | null> {
  if (tools.length > maxTools) return refuseField('tools', `at most ${maxTools} tools`);
  const names = new Set(tools.map(({ name }) => name));
  if (names.size < tools.length) return refuseField('tools', 'two tools have the same name');
  if (typeof choice === 'object' && !names.has(choice.name)) {
    return refuseField('tool_choice', `there is no tool "${choice.name}" among the tools`);
  }
  if (choice === 'required' && tools.length === 0) {
    return refuseField('tool_choice', 'a tool is required, but there are none');
  }
  if (choice === 'none' || tools.length === 0) return { ok: true, data: null };
  const definitions = tools.map(({ name, description, parameters }) => ({
    name,
    description: description ?? null,
    parameters: parameters ?? null,
  }));
  return { ok: true, data: { tools: definitions, choice, parallel } };
}

/** What no template can write: an answer to continue, a tool's answer to a call that nobody made. */
export function checkTurns(turns: readonly ChatTurn[], param: string): Read<readonly ChatTurn[]> {
  const calls = new Set<string>();
  for (const turn of turns) {
    if (turn.role === 'assistant') for (const call of turn.toolCalls ?? []) calls.add(call.id);
    if (turn.role === 'tool' && !calls.has(turn.callId)) {
      return refuseField(
        param,
        `a tool answers the call ${JSON.stringify(turn.callId)}, which no message before it makes`,
      );
    }
  }
  if (turns.at(-1)?.role === 'assistant') {
    const message = 'continuing an answer of the assistant is not supported; the last message must be another';
    return refuseField(param, message, 'unsupported_value');
  }
  if (!turns.some(({ role }) => role !== 'system')) return refuseField(param, 'there is no message of the user');
  return { ok: true, data: turns };
}

export function assistantTurn(text: string, toolCalls: readonly ToolCall[]): ChatTurn {
  return { role: 'assistant', text, ...(toolCalls.length === 0 ? {} : { toolCalls }) };
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
