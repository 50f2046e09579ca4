import {
  LlamaText,
  type ChatHistoryItem,
  type ChatWrapper,
  type LlamaContextSequence,
  type LlamaModel,
  type Token,
} from 'node-llama-cpp';
import { alignTokens } from './align-tokens.ts';
import type { ChatTurn } from './engine.ts';

/** A chat as node-llama-cpp's chat wrappers take it, ending with the answer to be written. */
export function historyOf(turns: readonly ChatTurn[]): ChatHistoryItem[] {
  const history = turns.map((turn): ChatHistoryItem => {
    switch (turn.role) {
      case 'system':
        return { type: 'system', text: turn.text };
      case 'user':
        return { type: 'user', text: turn.text };
      case 'tool':
        return { type: 'user', text: turn.text };
      case 'assistant':
        return { type: 'model', response: [turn.text] };
    }
  });
  return history.at(-1)?.type === 'model' ? history : [...history, { type: 'model', response: [] }];
}

/** Tokens of a whole prompt in the model's chat format. */
export function renderPrompt(model: LlamaModel, wrapper: ChatWrapper, history: readonly ChatHistoryItem[]): Token[] {
  return wrapper.generateContextState({ chatHistory: history }).contextText.tokenize(model.tokenizer);
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
