import {
  LlamaText,
  type ChatHistoryItem,
  type ChatModelFunctionCall,
  type ChatModelFunctions,
  type ChatModelResponse,
  type ChatWrapper,
  type LlamaContextSequence,
  type LlamaModel,
  type Token,
} from 'node-llama-cpp';
import { alignTokens } from './align-tokens.ts';
import type { ChatTurn, ToolDefinition } from './engine.ts';
import { describedParameters } from './tool-schema.ts';

/**
 * A chat as node-llama-cpp's chat wrappers take it, ending with the answer to be written. Calls, their results and what
 * the model says after them are one answer there.
 */
export function historyOf(turns: readonly ChatTurn[]): ChatHistoryItem[] {
  const history: ChatHistoryItem[] = [];
  const results = new Map(turns.flatMap((turn) => (turn.role === 'tool' ? [[turn.callId, turn.text] as const] : [])));
  let afterTool = false;
  for (const turn of turns) {
    switch (turn.role) {
      case 'system':
        history.push({ type: 'system', text: turn.text });
        break;
      case 'user':
        history.push({ type: 'user', text: turn.text });
        break;
      case 'tool':
        break;
      case 'assistant':
        addAnswer(history, turn, results, afterTool);
    }
    afterTool = turn.role === 'tool';
  }
  return history.at(-1)?.type === 'model' ? history : [...history, { type: 'model', response: [] }];
}

function addAnswer(
  history: ChatHistoryItem[],
  turn: ChatTurn & { readonly role: 'assistant' },
  results: ReadonlyMap<string, string>,
  continues: boolean,
): void {
  const calls = (turn.toolCalls ?? []).map((call, index): ChatModelFunctionCall => ({
    type: 'functionCall',
    name: call.name,
    params: jsonOr(call.arguments, call.arguments),
    result: readResult(results.get(call.id)),
    ...(index === 0 ? { startsNewChunk: true } : {}),
  }));
  const response: ChatModelResponse['response'] = [
    ...(turn.text === '' && calls.length > 0 ? [] : [turn.text]),
    ...calls,
  ];
  const last = history.at(-1);
  if (continues && last?.type === 'model') last.response.push(...response);
  else history.push({ type: 'model', response });
}

/** A result that is a JSON object or list is shown as such, everything else as a text. */
function readResult(text: string | undefined): unknown {
  return text === undefined ? undefined : /^\s*[[{]/.test(text) ? jsonOr(text, text) : text;
}

function jsonOr(text: string, otherwise: unknown): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return otherwise;
  }
}

/** Tools as the chat wrappers document them. */
export function functionsOf(tools: readonly ToolDefinition[]): ChatModelFunctions {
  return Object.fromEntries(
    tools.map(({ name, description, parameters }) => [
      name,
      {
        ...(description === null ? {} : { description }),
        ...(parameters === null ? {} : { params: describedParameters(parameters) as never }),
      },
    ]),
  );
}

/** What makes the tokens of a prompt, besides its turns. */
export type PromptFormat = {
  readonly model: LlamaModel;
  readonly wrapper: ChatWrapper;
  /** null: no tools. */
  readonly functions: ChatModelFunctions | null;
  /** Whether the answer begins with its text: no thinking, no call. */
  readonly plain?: boolean;
  /** How the answer begins; it is not part of what is written. */
  readonly answer?: LlamaText;
};

/** Tokens of a whole prompt in the model's chat format. */
export function renderPrompt(format: PromptFormat, history: readonly ChatHistoryItem[]): Token[] {
  const { model, wrapper, functions } = format;
  const state = wrapper.generateContextState({
    chatHistory: history,
    ...(functions === null ? {} : { availableFunctions: functions }),
  });
  const opening =
    format.plain === true && state.noPrefixTrigger?.type === 'response' ? state.noPrefixTrigger.inject : '';
  return LlamaText([state.contextText, opening, format.answer ?? '']).tokenize(model.tokenizer);
}

/** The prompt cut into tokens the way the sequence already holds it, as far as the text is the same. */
export function alignPrompt(sequence: LlamaContextSequence, tokens: readonly Token[]): Token[] {
  const { model } = sequence;
  return alignTokens(sequence.contextTokens, tokens, {
    detokenize: (run) => model.detokenize(run as readonly Token[], true),
    isSpecial: (token) => model.isSpecialToken(token as Token),
  });
}

/**
 * The same chat wrapper, except that its prompts are aligned with what the sequence holds.
 * LlamaChat renders and tokenizes the chat by itself; without this it would throw away the KV cache
 * wherever an earlier answer is cut into other tokens than the ones that were generated.
 */
export function aligningWrapper(wrapper: ChatWrapper, sequence: LlamaContextSequence): ChatWrapper {
  const generateContextState: ChatWrapper['generateContextState'] = (options) => {
    const state = wrapper.generateContextState(options);
    const contextText = LlamaText(state.contextText);
    const tokenize = contextText.tokenize.bind(contextText);
    contextText.tokenize = (tokenizer, trim) => alignPrompt(sequence, tokenize(tokenizer, trim));
    return { ...state, contextText };
  };
  return Object.create(wrapper, { generateContextState: { value: generateContextState } }) as ChatWrapper;
}

/** How the format begins a call. @param name null: the model chooses the tool. */
export function callOpening(wrapper: ChatWrapper, name: string | null): LlamaText {
  const { call, parallelism } = wrapper.settings.functions;
  const start = [parallelism?.call.sectionPrefix ?? '', call.prefix];
  return LlamaText(name === null ? start : [...start, name, argumentsOpening(wrapper, name)]);
}

/** What stands between the name of a tool and its arguments. */
export function argumentsOpening(wrapper: ChatWrapper, name: string): LlamaText {
  return LlamaText(wrapper.settings.functions.call.paramsPrefix).mapValues((value) =>
    typeof value === 'string' ? value.replaceAll('{{functionName}}', name) : value,
  );
}
