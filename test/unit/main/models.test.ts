import { beforeEach, expect, it } from 'vitest';
import { defaultFlagValues, type ModelInfo, type Settings } from '../../../src/main/contract/index.ts';
import { EngineModels } from '../../../src/main/services/index.ts';
import { unwrap } from '../../support/engine.ts';
import { ScriptedEngine } from '../../support/scripted-engine.ts';

/** With a model that is there from the start. */
class LoadedEngine extends ScriptedEngine {
  model: ModelInfo | null = { id: 'mine', path: '/mine.gguf', builtin: false } as ModelInfo;
  cancelled = 0;

  override status() {
    return { ...super.status(), model: this.model };
  }

  override cancelLoad() {
    this.cancelled += 1;
    return super.cancelLoad();
  }
}

let engine: LoadedEngine;
let loads: string[];
let models: EngineModels;
let remembered: Partial<Settings>[];
beforeEach(() => {
  engine = new LoadedEngine();
  [loads, remembered] = [[], []];
  engine.onLoad = (path) => loads.push(path);
  models = new EngineModels({
    engine,
    flags: defaultFlagValues,
    builtinPath: '/builtin.gguf',
    settings: {
      value: {} as Settings,
      set: async (changes) => {
        remembered.push(changes);
        return { ok: true, data: {} as Settings };
      },
      on: () => () => undefined,
    },
  });
});

it('a wake loads what was hibernated, the built-in model too, and does not make it the one of the next start', async () => {
  unwrap(await models.hibernate());
  expect(models.hibernated()?.id).toBe('mine');
  unwrap(await models.wake());
  expect(models.hibernated()).toBeNull();
  engine.model = { id: 'builtin', path: '/builtin.gguf', builtin: true } as ModelInfo;
  unwrap(await models.hibernate());
  unwrap(await models.wake());
  expect(loads).toEqual(['/mine.gguf', '/builtin.gguf']);
  expect(remembered).toEqual([]);
});

it('a person who unloads or loads meanwhile has the last word: nothing is woken any more', async () => {
  unwrap(await models.hibernate());
  unwrap(await models.unload());
  expect(models.hibernated()).toBeNull();
  expect(await models.wake()).toMatchObject({ ok: false, error: { code: 'no_model' } });
  unwrap(await models.hibernate());
  unwrap(await models.load('/other.gguf'));
  expect(models.hibernated()).toBeNull();
});

it('giving up a wake cancels its load, but not one that a person has asked for since', async () => {
  engine.holdLoads = true;
  unwrap(await models.hibernate());
  void models.wake();
  models.cancelWake();
  expect(engine.cancelled).toBe(1);
  void models.wake();
  void models.load('/other.gguf');
  models.cancelWake();
  expect(engine.cancelled).toBe(1);
});
