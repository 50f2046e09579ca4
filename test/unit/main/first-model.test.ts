import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { silentLogger } from '../../../src/main/base/index.ts';
import { defaultFlagValues, fail, ok } from '../../../src/main/contract/index.ts';
import { loadFirstModel } from '../../../src/main/first-model.ts';
import { EngineModels } from '../../../src/main/services/index.ts';
import { LoadMarker } from '../../../src/main/store/index.ts';
import { ChatBench } from '../../support/chat-service.ts';
import { unwrap } from '../../support/engine.ts';
import { ScriptedEngine } from '../../support/scripted-engine.ts';
import { temporaryFolder } from '../../support/temp-folder.ts';

const ensureOwner = () => Promise.resolve(ok());

async function build({ model = null as string | null, folder = temporaryFolder(), lastModel = null as string | null }) {
  const path = join(folder, 'loading.json');
  const marker = await LoadMarker.open({ path, logger: silentLogger, ensureOwner });
  const { settings } = await ChatBench.open(folder);
  if (lastModel !== null) unwrap(await settings.set({ lastModel }));
  const engine = new ScriptedEngine();
  const loads: string[] = [];
  engine.onLoad = (each) => loads.push(each);
  const flags = { ...defaultFlagValues, model };
  const models = new EngineModels({ engine, flags, builtinPath: '/builtin.gguf', settings, marker });
  const notices: string[] = [];
  const onNotice = (text: string) => notices.push(text);
  const start = () => loadFirstModel({ models, settings, left: marker.left, onNotice });
  const onDisk = () =>
    existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as { entries: unknown[] }).entries : [];
  return { folder, path, marker, engine, loads, models, notices, start, onDisk, settings };
}

const leave = (folder: string, content: unknown) =>
  writeFileSync(join(folder, 'loading.json'), typeof content === 'string' ? content : JSON.stringify(content));
const left = (model: string, stage = 'load') => ({ entries: [{ model, stage }] });

it('the mark is on disk before the load begins and gone after it, whatever came of it', async () => {
  const { models, engine, onDisk } = await build({});
  let during: unknown = null;
  engine.onLoad = () => (during = onDisk());
  unwrap(await models.load('/m.gguf'));
  expect(during).toEqual([{ model: '/m.gguf', stage: 'load' }]);
  expect(onDisk()).toEqual([]);
  engine.load = () => Promise.resolve(fail('model_not_gguf', 'no'));
  await models.load('/m.gguf');
  expect(onDisk()).toEqual([]);
});

it('it stands again from the first prefill to the first token, once per load (bug: a write for every answer)', async () => {
  const { models, engine, onDisk } = await build({});
  unwrap(await models.load('/m.gguf'));
  engine.become({ state: 'prefill' });
  expect(onDisk()).toEqual([{ model: '/m.gguf', stage: 'first_token' }]);
  engine.become({ state: 'ready' });
  expect(onDisk()).toEqual([]);
  engine.become({ state: 'prefill' });
  engine.become({ state: 'generating' });
  expect(onDisk()).toEqual([]);
  engine.become({ state: 'ready' });
  engine.become({ state: 'prefill' });
  expect(onDisk()).toEqual([]);
});

it.each([
  ['load', 'while m.gguf was being loaded'],
  ['first_token', 'while m.gguf computed its first token'],
])('after a crash in %s the last model gives way to the built-in one, also at later starts', async (stage, words) => {
  const folder = temporaryFolder();
  leave(folder, left('/m.gguf', stage));
  const { start, loads, notices, settings, path } = await build({ folder, lastModel: '/m.gguf' });
  await start();
  expect(loads).toEqual(['/builtin.gguf']);
  expect(notices[0]).toContain(words);
  expect(settings.value.lastModel).toBeNull();
  expect(existsSync(path)).toBe(false);
});

it('a model that is asked for is tried again, and it says so', async () => {
  const folder = temporaryFolder();
  leave(folder, left('/m.gguf'));
  const { start, loads, notices } = await build({ folder, model: '/m.gguf' });
  await start();
  expect(loads).toEqual(['/m.gguf']);
  expect(notices[0]).toContain('tried again');
});

it('when the built-in model itself was it, none is loaded (bug: a crash at every start)', async () => {
  const folder = temporaryFolder();
  leave(folder, left('builtin'));
  const { start, loads, notices } = await build({ folder });
  await start();
  expect(loads).toEqual([]);
  expect(notices[0]).toContain('the built-in model');
});

it('a mark of another model does not keep the last one from being loaded', async () => {
  const folder = temporaryFolder();
  leave(folder, left('/other.gguf'));
  const { start, loads } = await build({ folder, lastModel: '/m.gguf' });
  await start();
  expect(loads).toEqual(['/m.gguf']);
});

it.each(['', '{"entries":[{"model":5}]}', '[]'])('a mark that makes no sense (%j) accuses nobody', async (content) => {
  const folder = temporaryFolder();
  leave(folder, content);
  const { start, loads, notices } = await build({ folder, lastModel: '/m.gguf' });
  await start();
  expect([loads, notices]).toEqual([['/m.gguf'], []]);
});
