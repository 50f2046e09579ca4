import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EngineState } from '../../../src/main/contract/index.ts';
import { ask, builtinLoad, builtinPath, createEngine, requestOf, unwrap } from '../../support/engine.ts';
import { temporaryFolder } from '../../support/temp-folder.ts';

const engine = createEngine();
beforeAll(async () => void unwrap(await engine.load(builtinLoad)));
afterAll(() => engine.close());

const model = readFileSync(builtinPath);

/** Loads a file that must be refused, and checks that the model before it still answers. */
async function refused(path: string, code: string, words: RegExp) {
  const result = await engine.load({ ...builtinLoad, path, builtin: false });
  expect(result).toMatchObject({ ok: false, error: { code } });
  if (result.ok) return;
  expect(result.error.message).toMatch(words);
  expect(result.error.hint ?? '').not.toBe('');
  const status = engine.status();
  expect(status.state).toBe('ready');
  expect(status.model?.builtin).toBe(true);
  expect(status.error?.code).toBe(code);
  expect((await ask(engine, 'What is 8 plus 6, please?')).text).toBe('8 + 6 = 14.');
}

function fileOf(bytes: Buffer | string, name = 'model.gguf'): string {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, bytes);
  return path;
}

function replaced(from: string, to: string): Buffer {
  const text = model.toString('latin1').replaceAll(from, to);
  return Buffer.from(text, 'latin1');
}

describe('files that cannot be loaded leave the old model in place', () => {
  it('a path that is not there', () =>
    refused(join(temporaryFolder(), 'no.gguf'), 'model_not_found', /no file .*no\.gguf/));
  it('wrong magic', () => refused(fileOf('<!doctype html>not a model'), 'model_not_gguf', /not a GGUF/));
  it('cut in the weights', () =>
    refused(fileOf(model.subarray(0, 3_000_000)), 'model_truncated', /cut off: 2\.9 MB of 5\.9 MB are missing/));
  it('cut by one byte', () => refused(fileOf(model.subarray(0, model.length - 1)), 'model_truncated', /cut off/));
  it('cut in the header', () => refused(fileOf(model.subarray(0, 900)), 'model_truncated', /cut off|header/));
  it('cut in the first eight bytes', () => refused(fileOf(model.subarray(0, 6)), 'model_truncated', /6 bytes/));
  it('an architecture that llama.cpp does not know', () =>
    refused(fileOf(replaced('qwen3moe', 'qwen9moe')), 'model_unsupported_architecture', /"qwen9moe"/));
  it('a vocabulary without weights', () => {
    const vocabulary = Buffer.from(model);
    vocabulary.writeBigUInt64LE(0n, 8);
    return refused(fileOf(vocabulary), 'model_vocabulary_only', /only a vocabulary/);
  });
  it('an empty file', () => refused(fileOf(''), 'model_empty', /0 bytes/));
  it('a folder', () => refused(temporaryFolder(), 'model_is_folder', /is a folder/));
  it('another GGUF version', () => {
    const future = Buffer.from(model);
    future.writeUInt32LE(9, 4);
    return refused(fileOf(future), 'model_unsupported_format', /version 9/);
  });
  it('big-endian', () => {
    const swapped = Buffer.from(model);
    swapped.writeUInt32BE(3, 4);
    return refused(fileOf(swapped), 'model_unsupported_format', /big-endian/);
  });
  it('a split model with a part missing', () =>
    refused(fileOf(model, 'big-00001-of-00003.gguf'), 'model_shard_missing', /2 of the 3 files/));

  it('a file without read permission', async (context) => {
    const path = fileOf(model);
    chmodSync(path, 0);
    const root = process.getuid?.() === 0;
    if (root && process.seteuid === undefined)
      return context.skip('skipped: root reads every file, and this system has no seteuid');
    if (root) process.seteuid?.(65_534);
    try {
      const result = await engine.load({ ...builtinLoad, path, builtin: false });
      expect(result).toMatchObject({ ok: false, error: { code: 'model_unreadable' } });
    } finally {
      if (root) process.seteuid?.(0);
    }
    await refused(join(temporaryFolder(), 'x'), 'model_not_found', /no file/);
  });
});

describe('loading', () => {
  it('works with spaces and letters of any script in the path', async () => {
    const folder = join(temporaryFolder(), 'Größe 模型 🐭 folder');
    mkdirSync(folder);
    const path = join(folder, "Mö del's №1.gguf");
    copyFileSync(builtinPath, path);
    const info = unwrap(await engine.load({ ...builtinLoad, path, builtin: false }));
    expect(info).toMatchObject({
      id: "Mö del's №1",
      builtin: false,
      architecture: 'qwen3moe',
      experts: 8,
      expertsUsed: 2,
      layers: 4,
    });
    expect((await ask(engine, 'What is 8 plus 6, please?')).text).toBe('8 + 6 = 14.');
    unwrap(await engine.load(builtinLoad));
  });

  it('tells context, quantization and chat format of what it loaded', () => {
    expect(engine.status().model).toMatchObject({
      contextSize: 1024,
      contextTrained: 1024,
      quantization: 'Q8_0',
      chatFormat: 'ChatML',
      thinks: false,
    });
  });

  it('goes through the states in order', async () => {
    const states: EngineState[] = [];
    const own = createEngine();
    own.on(
      (event) =>
        void (event.type === 'status' && states.at(-1) !== event.status.state && states.push(event.status.state)),
    );
    unwrap(await own.load(builtinLoad));
    await ask(own, 'Good morning, little model!');
    unwrap(await own.unload());
    expect(states).toEqual(['loading', 'ready', 'prefill', 'generating', 'ready', 'unloading', 'empty']);
    expect(await own.generate(requestOf('hi'))).toMatchObject({
      ok: false,
      error: { code: 'no_model' },
    });
    await own.close();
    expect(await own.load(builtinLoad)).toMatchObject({ ok: false, error: { code: 'engine_closed' } });
  });

  it('can be cancelled, from an empty engine and from a loaded one', async () => {
    const own = createEngine();
    for (const state of ['empty', 'ready'] as const) {
      if (state === 'ready') unwrap(await own.load(builtinLoad));
      const off = own.on((event) => {
        if (event.type === 'status' && event.status.state === 'loading') own.cancelLoad();
      });
      expect(await own.load(builtinLoad)).toMatchObject({ ok: false, error: { code: 'load_cancelled' } });
      off();
      expect(own.status()).toMatchObject({ state, error: null });
    }
    expect((await ask(own, 'What is 8 plus 6, please?')).text).toBe('8 + 6 = 14.');
    expect(own.cancelLoad()).toBe(false);
    await own.close();
  });

  it('fails with a reason when nothing was loaded before, and recovers', async () => {
    const own = createEngine();
    expect((await own.load({ ...builtinLoad, path: fileOf('') })).ok).toBe(false);
    expect(own.status()).toMatchObject({ state: 'failed', error: { code: 'model_empty' } });
    unwrap(await own.load(builtinLoad));
    expect(own.status()).toMatchObject({ state: 'ready', error: null });
    await own.close();
  });

  it('waits for the running answer before it switches (a switch under a running answer would crash)', async () => {
    const order: string[] = [];
    const story = ask(engine, 'Tell me a story about a fox').then((answer) => {
      order.push('answer');
      return answer;
    });
    const load = engine.load(builtinLoad).then(() => order.push('load'));
    const answer = await story;
    await load;
    expect(order).toEqual(['answer', 'load']);
    expect(answer.text.length).toBeGreaterThan(200);
  });
});
