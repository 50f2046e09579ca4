import type { ChatWrapper, LlamaModel, Token } from 'node-llama-cpp';
import { fail, ok, type Result } from '../contract/index.ts';
import type { AnswerWay } from './answer-way.ts';
import type { ChatTurn, GenerateRequest, Prompt } from './engine.ts';
import { fitTurns } from './fit-turns.ts';
import { callOpening, functionsOf, historyOf, renderPrompt, type PromptFormat } from './llama-prompt.ts';

/** Characters per token that no vocabulary exceeds over a whole prompt; longer prompts are refused without tokenizing. */
const mostCharactersPerToken = 256;
/** Part of the context kept free for the answer when old turns are dropped. */
const answerShare = 1 / 4;

/** A prompt that fits the context. */
export type FittedPrompt = {
  readonly tokens: readonly Token[];
  /** Turns that were left out. */
  readonly dropped: number;
  /** Those that were not; none for a raw text. */
  readonly turns: readonly ChatTurn[];
};

/** Turns prompts into tokens and sees to it that they fit. */
export class PromptFitter {
  readonly #model: LlamaModel;
  readonly #wrapper: ChatWrapper;
  readonly #size: number;

  /** @param size tokens that prompt and answer may have together. */
  constructor(model: LlamaModel, wrapper: ChatWrapper, size: number) {
    this.#model = model;
    this.#wrapper = wrapper;
    this.#size = size;
  }

  /** All tokens of a prompt, however many. */
  render(prompt: Prompt, way: AnswerWay): Token[] {
    return prompt.kind === 'text' ? this.#text(prompt.text) : this.#renderer(way)(prompt.turns);
  }

  /** @returns `prompt_too_long` with both numbers, or `prompt_empty`. */
  fit(request: GenerateRequest, way: AnswerWay, maxTokens: number | null): Result<FittedPrompt> {
    const { prompt } = request;
    return prompt.kind === 'text' ? this.#fitText(prompt.text) : this.#fitChat(request, prompt.turns, way, maxTokens);
  }

  #fitText(text: string): Result<FittedPrompt> {
    if (text.length > this.#size * mostCharactersPerToken) return this.#tooLong(`about ${this.#estimate(text)}`);
    const tokens = this.#text(text);
    if (tokens.length === 0) return fail('prompt_empty', 'The prompt is empty.', 'Write something first.');
    return tokens.length > this.#size - 2
      ? this.#tooLong(String(tokens.length))
      : ok({ tokens, dropped: 0, turns: [] });
  }

  #fitChat(
    { overflow }: GenerateRequest,
    turns: readonly ChatTurn[],
    way: AnswerWay,
    maxTokens: number | null,
  ): Result<FittedPrompt> {
    const size = this.#size;
    const essential = turns.filter((turn, index) => turn.role === 'system' || index === turns.length - 1);
    const lengthOf = (some: readonly ChatTurn[]) => some.reduce((sum, turn) => sum + turn.text.length, 0);
    if (lengthOf(overflow === 'refuse' ? turns : essential) > size * mostCharactersPerToken) {
      return this.#tooLong(`about ${this.#estimate(turns.map((turn) => turn.text).join('\n'))}`);
    }
    const render = this.#renderer(way);
    const room = Math.min(Math.max(1, Math.floor(size * answerShare)), maxTokens ?? size);
    const hardLimit = size - 2;
    if (overflow === 'refuse') {
      const tokens = render(turns);
      return tokens.length > hardLimit ? this.#tooLong(String(tokens.length)) : ok({ tokens, dropped: 0, turns });
    }
    const fit = fitTurns(turns, render, (tokens) => tokens.length, Math.min(size - room, hardLimit), hardLimit);
    if (!fit.fits) return this.#tooLong(String(fit.promptTokens));
    return ok({ tokens: fit.prompt, dropped: fit.dropped, turns: fit.turns });
  }

  #renderer(way: AnswerWay): (turns: readonly ChatTurn[]) => Token[] {
    const common = { model: this.#model, wrapper: this.#wrapper };
    const tools = way.kind === 'text' ? [] : way.tools;
    const functions = tools.length === 0 ? null : functionsOf(tools);
    const format: PromptFormat =
      way.kind === 'call'
        ? { ...common, functions, answer: callOpening(this.#wrapper, onlyName(way.choices)) }
        : { ...common, functions, plain: way.kind === 'text' };
    return (turns) => renderPrompt(format, historyOf(turns));
  }

  #text(text: string): Token[] {
    const { tokens } = this.#model;
    const tokenized = this.#model.tokenize(text);
    return tokens.shouldPrependBosToken && tokens.bos !== null ? [tokens.bos, ...tokenized] : tokenized;
  }

  #tooLong(tokens: string) {
    return fail(
      'prompt_too_long',
      `The prompt has ${tokens} tokens, but the context holds ${this.#size}.`,
      'Shorten the text, or load the model with a larger context (--context).',
    );
  }

  /** Tokens of a text too long to tokenize in one go, from the density of its beginning. */
  #estimate(text: string): number {
    const sample = text.slice(0, 16_384);
    return Math.round((this.#model.tokenize(sample).length / sample.length) * text.length);
  }
}

function onlyName(choices: readonly { readonly name: string }[]): string | null {
  return choices.length === 1 ? (choices[0]?.name ?? null) : null;
}
