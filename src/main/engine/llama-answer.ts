import {
  LlamaChat,
  type ChatWrapper,
  type LlamaContextSequence,
  type LlamaModel,
  type Token,
  type TokenBias,
} from 'node-llama-cpp';
import { fail, ok, type Result } from '../contract/index.ts';
import type { AnswerWay } from './answer-way.ts';
import type { AnswerEnd, AnswerPart, ChatTurn, JsonSchema, ToolDefinition } from './engine.ts';
import { literal } from './json-grammar-parts.ts';
import { jsonSchemaGrammar } from './json-schema-grammar.ts';
import { CallParts, callId } from './call-parts.ts';
import { aligningWrapper, argumentsOpening, functionsOf, historyOf } from './llama-prompt.ts';
import { penaltyOptions, samplingOptions } from './llama-sampling.ts';
import { write, type Written } from './llama-writer.ts';
import type { LlamaGrammars } from './llama-grammars.ts';
import type { FullSampling } from './sampling.ts';

/** A prompt that has been read, all but its last token. */
export type AnswerContext = {
  readonly model: LlamaModel;
  readonly wrapper: ChatWrapper;
  readonly sequence: LlamaContextSequence;
  readonly grammars: LlamaGrammars;
  /** As the chat wrapper sees it; not for raw texts. */
  readonly turns: readonly ChatTurn[];
  readonly lastToken: Token;
  readonly sampling: FullSampling;
  readonly bias: TokenBias | null;
  readonly stop: readonly string[];
  /** Tokens that fit behind the prompt. */
  readonly room: number;
  readonly signal: AbortSignal;
  /** @param tokens how many tokens the part was made of. */
  readonly onPart: (part: AnswerPart, tokens: number) => void;
};

/** Decodes until a stop. @throws what node-llama-cpp throws. */
export async function answer(way: AnswerWay, context: AnswerContext): Promise<Result<AnswerEnd>> {
  switch (way.kind) {
    case 'chat':
      return ok(await chat(way, context));
    case 'text':
      return writeText(way.schema, context);
    case 'call':
      return writeCall(way.choices, context);
  }
}

/** @returns how many tokens may still be written, and what it means to have written them all. */
function limits({ sampling, room }: AnswerContext): { readonly most: number; readonly full: AnswerEnd } {
  const asked = sampling.maxTokens ?? Number.POSITIVE_INFINITY;
  return { most: Math.max(1, Math.min(room, asked)), full: asked <= room ? 'max_tokens' : 'context_full' };
}

async function chat(way: AnswerWay & { readonly kind: 'chat' }, context: AnswerContext): Promise<AnswerEnd> {
  const { sequence, wrapper, sampling, bias, signal } = context;
  const { most, full } = limits(context);
  const calls = new CallParts((part) => context.onPart(part, 1));
  const session = new LlamaChat({ contextSequence: sequence, chatWrapper: aligningWrapper(wrapper, sequence) });
  const penalty = penaltyOptions(sampling);
  const tools = way.tools.length === 0 ? {} : toolOptions(way, calls);
  try {
    const { metadata } = await session.generateResponse(historyOf(context.turns), {
      ...samplingOptions(sampling),
      repeatPenalty: penalty ?? false,
      ...(bias === null ? {} : { tokenBias: bias }),
      maxTokens: most,
      customStopTriggers: context.stop,
      signal,
      stopOnAbortSignal: true,
      onResponseChunk: (chunk) => {
        if (chunk.text === '') return;
        const kind = chunk.segmentType === 'thought' ? 'thought' : 'text';
        context.onPart({ kind, text: chunk.text }, chunk.tokens.length);
      },
      ...tools,
    });
    switch (metadata.stopReason) {
      case 'abort':
        return 'stopped';
      case 'maxTokens':
        return full;
      case 'customStopTrigger':
        return 'stop_string';
      case 'functionCalls':
        return 'tool_calls';
      case 'eogToken':
      case 'stopGenerationTrigger':
        return calls.count > 0 ? 'tool_calls' : 'end';
    }
  } catch (error) {
    // LlamaChat throws the abort reason when nothing was written yet; the sequence is unharmed.
    if (signal.aborted) return 'stopped';
    throw error;
  } finally {
    session.dispose({ disposeSequence: false });
  }
}

function toolOptions(way: AnswerWay & { readonly kind: 'chat' }, calls: CallParts) {
  return {
    functions: functionsOf(way.tools),
    ...(way.parallel ? {} : { maxParallelFunctionCalls: 1 }),
    onFunctionCallParamsChunk: calls.onChunk,
    onFunctionCall: calls.onCall,
  };
}

async function writeText(schema: JsonSchema | null, context: AnswerContext): Promise<Result<AnswerEnd>> {
  const { most, full } = limits(context);
  const grammar = schema === null ? ok(null) : jsonSchemaGrammar(schema, context.room);
  if (!grammar.ok) return grammar;
  const written = await write({
    ...writerOf(context),
    tokens: [context.lastToken],
    grammar: grammar.data === null ? null : await context.grammars.get(grammar.data),
    stop: context.stop,
    maxTokens: most,
    onText: (text, tokens) => context.onPart({ kind: 'text', text }, tokens),
  });
  return ok(endOf(written, full));
}

/** First the name where there is a choice, then arguments, each held by a grammar. Stop strings do not count here. */
async function writeCall(choices: readonly ToolDefinition[], context: AnswerContext): Promise<Result<AnswerEnd>> {
  const { most, full } = limits(context);
  let tokens: readonly Token[] = [context.lastToken];
  let left = most;
  let tool = choices[0];
  // All must be right before the first of them is chosen.
  const grammars = choices.map((choice) => argumentsGrammar(choice, context.room));
  for (const grammar of grammars) if (!grammar.ok) return grammar;
  if (choices.length > 1) {
    let name = '';
    const names = await context.grammars.get(`root ::= ${choices.map((choice) => literal(choice.name)).join(' | ')}`);
    const onText = (text: string) => void (name += text);
    const named = await write({ ...writerOf(context), tokens, grammar: names, stop: [], maxTokens: left, onText });
    if (named.end !== 'end') return ok(endOf(named, full));
    left -= named.tokens;
    tool = choices.find((choice) => choice.name === name);
    tokens = argumentsOpening(context.wrapper, name).tokenize(context.model.tokenizer, 'trimLeadingSpace');
    left = Math.min(left, context.room - named.tokens - tokens.length);
  }
  const grammar = tool === undefined ? undefined : grammars[choices.indexOf(tool)];
  if (tool === undefined || grammar?.ok !== true)
    return fail('generation_failed', 'The model chose no tool.', 'Try again.');
  const { name } = tool;
  const id = callId();
  const tell = (text: string, count: number) => context.onPart({ kind: 'tool_call', index: 0, id, name, text }, count);
  if (left < 1) return ok(full);
  tell('', 0);
  const written = await write({
    ...writerOf(context),
    tokens,
    grammar: await context.grammars.get(grammar.data),
    stop: [],
    maxTokens: left,
    onText: tell,
  });
  return ok(written.end === 'end' ? 'tool_calls' : endOf(written, full));
}

function argumentsGrammar(tool: ToolDefinition, room: number): Result<string> {
  const made = jsonSchemaGrammar(tool.parameters ?? { type: 'object', additionalProperties: false }, room);
  return made.ok
    ? made
    : { ok: false, error: { ...made.error, message: `Tool "${tool.name}": ${made.error.message}` } };
}

function writerOf({ sequence, sampling, bias, signal }: AnswerContext) {
  return { sequence, sampling, bias, signal };
}

function endOf({ end }: Written, full: AnswerEnd): AnswerEnd {
  return end === 'max_tokens' ? full : end;
}
