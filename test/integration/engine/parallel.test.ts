import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/main/base/index.ts';
import { LlamaEngine, type GenerateRequest } from '../../../src/main/engine/index.ts';
import { ask, builtinLoad, createEngine, requestOf, unwrap } from '../../support/engine.ts';
import { temporaryFolder } from '../../support/temp-folder.ts';
import { waitFor } from '../../support/wait-for.ts';

const echo = (text: string): Partial<GenerateRequest> => ({ output: { kind: 'json_schema', schema: { const: text } } });
const story = 'Tell me a story about a fox';

describe('several answers at a time', () => {
  const engine = createEngine();
  beforeAll(async () => {
    const info = unwrap(await engine.load({ ...builtinLoad, sequences: 3, batchSize: 32 }));
    expect(info).toMatchObject({ sequences: 3, contextSize: 1024 });
  });
  afterAll(() => engine.close());

  it('each answers its own question (bug: mixed up sequences), and the first come are the first begun', async () => {
    const begun: string[] = [];
    const states = new Set<string>();
    const off = engine.on((event) => {
      if (event.type === 'status') states.add(event.status.state);
      else if (!begun.includes(event.generationId)) begun.push(event.generationId);
    });
    const requests = Array.from({ length: 24 }, (_, index) =>
      requestOf(`Say ${index}`, { id: `n${index}`, ...echo(`number ${index}`) }),
    );
    const texts = new Map<string, string>();
    const offText = engine.on((event) => {
      if (event.type === 'part') texts.set(event.generationId, (texts.get(event.generationId) ?? '') + event.part.text);
    });
    const all = requests.map((request) => engine.generate(request));
    expect(engine.status().waiting).toBe(21);
    for (const outcome of await Promise.all(all)) expect(unwrap(outcome).stopReason).toBe('end');
    off();
    offText();
    for (const [index, { id }] of requests.entries()) expect(texts.get(id)).toBe(`"number ${index}"`);
    const rank = begun.map((id) => Number(id.slice(1)));
    // Three at a time: nobody begins before all but two of those who came earlier.
    for (const [at, number] of rank.entries()) expect(Math.abs(number - at)).toBeLessThanOrEqual(4);
    expect(engine.status()).toMatchObject({ state: 'ready', waiting: 0, tokensPerSecond: null });
    expect([...states].every((state) => ['prefill', 'generating', 'ready'].includes(state))).toBe(true);
  });

  it('stops one without touching the others (bug: a native stop ends all that share a batch)', async () => {
    const plain = (await ask(engine, story)).text;
    const stopped = requestOf('mouse '.repeat(700), { sampling: { temperature: 0, maxTokens: 400 } });
    const others = [ask(engine, story), ask(engine, 'What is 8 plus 6, please?')];
    const cut = engine.generate(stopped);
    await waitFor('an answer is written', () => engine.status().state === 'generating');
    engine.stop(stopped.id);
    expect(unwrap(await cut).stopReason).toBe('stopped');
    const [whole, sum] = await Promise.all(others);
    expect(whole?.outcome.stopReason).toBe('end');
    expect(sum?.text).toBe('8 + 6 = 14.');
    expect(whole?.text.length).toBeGreaterThan(plain.length / 4);
    expect((await ask(engine, 'What is 8 plus 6, please?')).text).toBe('8 + 6 = 14.');
  });

  it('a waiting request that is stopped leaves the line at once, while all others still run', async () => {
    const running = [1, 2, 3].map(() => ask(engine, story));
    const queued = requestOf('What is 8 plus 6, please?');
    const waits = engine.generate(queued);
    expect(engine.status().waiting).toBe(1);
    engine.stop(queued.id);
    expect(unwrap(await waits)).toMatchObject({ stopReason: 'stopped', timings: { promptTokensEvaluated: 0 } });
    expect(engine.status()).toMatchObject({ waiting: 0 });
    expect(['prefill', 'generating']).toContain(engine.status().state);
    await Promise.all(running);
  });

  it('unloading waits for all that run, and later requests wait for it (bug: a model pulled away under an answer)', async () => {
    const order: string[] = [];
    const note = <T>(name: string, work: Promise<T>) => work.finally(() => order.push(name));
    const before = [note('story', ask(engine, story)), note('sum', ask(engine, 'What is 8 plus 6, please?'))];
    const unload = note('unload', engine.unload());
    const after = note('after', engine.generate(requestOf('What is 8 plus 6, please?')));
    expect(engine.status().waiting).toBe(1);
    for (const { outcome } of await Promise.all(before)) expect(outcome.stopReason).toBe('end');
    unwrap(await unload);
    expect(await after).toMatchObject({ ok: false, error: { code: 'no_model' } });
    expect(order.slice(2)).toEqual(['unload', 'after']);
    unwrap(await engine.load({ ...builtinLoad, sequences: 3, batchSize: 32 }));
  });

  it('a model that must answer, but is not loaded, is not replaced by another', async () => {
    const result = await engine.generate(requestOf('Hi', { modelPath: '/somewhere/else.gguf' }));
    expect(result).toMatchObject({ ok: false, error: { code: 'model_changed' } });
  });

  it('a prompt goes to the sequence that knows its beginning (bug: turns of two chats push each other out)', async () => {
    const chats = ['mouse', 'fox', 'moon'].map((word) => `${`The ${word} sleeps. `.repeat(20)} Thank you`);
    const more = { sampling: { temperature: 0, maxTokens: 3 } };
    for (const chat of chats) await ask(engine, chat, more);
    for (const chat of [...chats, ...chats.toReversed()]) {
      const again = await ask(engine, chat, more);
      expect(again.timings.promptTokens).toBeGreaterThan(60);
      expect(again.timings.promptTokensEvaluated).toBeLessThan(3);
    }
  });
});

describe('KV caches on disk', () => {
  it('serve the next load; files of another kind or changed ones are left out, and nobody else may read them', async () => {
    const folder = temporaryFolder();
    const logs: string[] = [];
    const warn = (text: string, fields?: object) => void logs.push(`${text} ${JSON.stringify(fields)}`);
    const engine = new LlamaEngine({
      ...{ logger: { ...silentLogger, warn }, middleware: { missing: 'not here' }, promptCache: folder },
    });
    const evaluated = async (changes: Partial<typeof builtinLoad> = {}) => {
      unwrap(await engine.load({ ...builtinLoad, pool: { ...builtinLoad.pool, on: false }, ...changes }));
      const question = `${'The mouse sleeps. '.repeat(20)} What is 8 plus 6, please?`;
      const { timings } = await ask(engine, question, { sampling: { temperature: 0, maxTokens: 8 } });
      unwrap(await engine.unload());
      return timings.promptTokensEvaluated;
    };
    const first = await evaluated();
    expect(first).toBeGreaterThan(60);
    expect(await evaluated()).toBeLessThan(3);
    const files = readdirSync(folder).map((name) => join(folder, name));
    expect(files).toHaveLength(2);
    for (const file of files) expect(statSync(file).mode & 0o077).toBe(0);
    expect(await evaluated({ kvType: 'q8_0', flashAttention: 'on' })).toBe(first);
    expect(logs).toEqual([]);
    for (const file of files.filter((name) => name.endsWith('.kv'))) {
      const bytes = readFileSync(file);
      const middle = bytes.length >> 1;
      bytes[middle] = (bytes[middle] ?? 0) ^ 255;
      writeFileSync(file, bytes);
    }
    expect(await evaluated()).toBe(first);
    expect(logs.join('\n')).toContain('it was changed');
    await engine.close();
  });
});
