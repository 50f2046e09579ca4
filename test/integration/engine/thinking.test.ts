import { LlamaContextSequence } from 'node-llama-cpp';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { LoadRequest } from '../../../src/main/engine/index.ts';
import { ask, builtinLoad, createEngine, unwrap, type Answer } from '../../support/engine.ts';

/*
 * The built-in model does not think, so its tokens are scripted here; tokenizer, chat wrapper, stop and segment
 * detection and the engine are the real ones. The script is cut after every third letter, so that every marker
 * spans several tokens.
 */
afterEach(() => vi.restoreAllMocks());

async function answerWith(
  chatFormat: LoadRequest['chatFormat'],
  script: string | string[],
  stop: string[] = [],
): Promise<Answer> {
  const engine = createEngine();
  const info = unwrap(await engine.load({ ...builtinLoad, chatFormat }));
  expect(info.thinks).toBe(chatFormat !== 'chatml');
  // LlamaChat may begin a new evaluation in between; the script goes on where it stood.
  const pieces = [script].flat().flatMap((part) => part.match(/[^]{1,3}/gu) ?? []);
  vi.spyOn(LlamaContextSequence.prototype, 'evaluate').mockImplementation(async function* (this: LlamaContextSequence) {
    for (let piece = pieces.shift(); piece !== undefined; piece = pieces.shift()) yield* this.model.tokenize(piece);
    const end = this.model.tokens.eot ?? this.model.tokens.eos;
    if (end !== null) yield end;
  });
  try {
    return await ask(engine, 'Where is the dormouse?', { stop });
  } finally {
    await engine.close();
  }
}

describe('thinking is kept apart from the answer', () => {
  it('Qwen: <think> blocks', async () => {
    const answer = await answerWith('qwen', '<think>\nIt sleeps, I think.\n</think>\n\nIn its nest.');
    expect(answer.thought.trim()).toBe('It sleeps, I think.');
    expect(answer.text.trim()).toBe('In its nest.');
    expect(answer.outcome.stopReason).toBe('end');
  });

  it('Qwen: an answer without thinking', async () => {
    const answer = await answerWith('qwen', 'In its nest.');
    expect(answer).toMatchObject({ text: 'In its nest.', thought: '' });
  });

  it('Qwen: thinking that never ends is all thought (half a marker must not leak)', async () => {
    const answer = await answerWith('qwen', '<think>\nIt sleeps </thi');
    expect(answer.thought).toContain('It sleeps');
    expect(answer.text).toBe('');
  });

  it('Harmony: analysis is thinking, final is the answer', async () => {
    // The wrapper recognises the channel as soon as it is named and puts <|message|> in by itself.
    const answer = await answerWith('harmony', [
      '<|channel|>analysis<|message|>It sleeps.<|end|>',
      '<|channel|>final',
      'In its nest.',
    ]);
    expect(answer.thought.trim()).toBe('It sleeps.');
    expect(answer.text.trim()).toBe('In its nest.');
  });

  it('ChatML: a model that writes <think> as letters means letters', async () => {
    const answer = await answerWith('chatml', 'The tag <think> opens a thought.');
    expect(answer).toMatchObject({ text: 'The tag <think> opens a thought.', thought: '' });
  });

  it('a stop string that spans many tokens is found and left out', async () => {
    const answer = await answerWith('chatml', 'one two STOP HERE three', ['STOP HERE']);
    expect(answer.text).toBe('one two ');
    expect(answer.outcome.stopReason).toBe('stop_string');
  });

  it('text that only begins like a stop string is not swallowed', async () => {
    const answer = await answerWith('chatml', 'one STOP now', ['STOP HERE']);
    expect(answer.text).toBe('one STOP now');
  });
});
