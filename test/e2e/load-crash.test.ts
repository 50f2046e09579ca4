import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { AppProcess } from '../support/app-process.ts';
import { ContractClient } from '../support/contract-client.ts';
import { builtinPath, unwrap } from '../support/engine.ts';
import { temporaryFolder } from '../support/temp-folder.ts';
import { waitFor } from '../support/wait-for.ts';

/** Starts with a model of its own and kills the process while that is being loaded. */
async function killWhileLoading(dataFolder: string, model: string): Promise<void> {
  const marker = join(dataFolder, 'loading.json');
  // The load may be over before the kill comes: then there was no crash, and it is tried again.
  for (let round = 0; round < 10; round++) {
    const starting = AppProcess.start({ args: ['--model', model], dataFolder });
    const killed = waitFor('the load', () => existsSync(marker), { everyMs: 1, timeoutMs: 60_000 });
    const app = await starting;
    await killed.catch(() => undefined);
    await app.kill();
    if (existsSync(marker)) return;
  }
  throw new Error('no kill came while the model was being loaded');
}

it('a model whose load killed the process is not loaded again, and the page says what to try (bug: it never starts again)', async () => {
  const dataFolder = temporaryFolder();
  const model = join(temporaryFolder(), 'deadly.gguf');
  copyFileSync(builtinPath, model);
  const first = await AppProcess.start({ args: ['--model', model], dataFolder });
  const settings = join(dataFolder, 'settings.json');
  await waitFor('the last model', () => existsSync(settings) && readFileSync(settings, 'utf8').includes('deadly.gguf'));
  await waitFor('the end of the load', () => !existsSync(join(dataFolder, 'loading.json')));
  await first.stop();

  await killWhileLoading(dataFolder, model);
  const again = await AppProcess.start({ dataFolder });
  const client = await ContractClient.connect(again);
  const status = await waitFor('a model', async () => {
    const { state, model: loaded } = unwrap(await client.request('engine.status', {}));
    return state === 'ready' && loaded;
  });
  expect(status.builtin).toBe(true);
  const { notices } = unwrap(await client.request('app.info', {}));
  const notice = notices.find((text) => text.includes('deadly.gguf')) ?? '';
  expect(notice).toContain('while deadly.gguf was being loaded');
  expect(notice).toContain('Your chats are safe');
  expect(notice).toContain('--gpu off');
  expect(again.output).toContain('deadly.gguf');
  await again.stop();

  // Not the start after that either, and asking for it is allowed.
  const third = await AppProcess.start({ args: ['--model', model], dataFolder });
  const asked = await ContractClient.connect(third);
  await waitFor('the model that was asked for', async () => {
    const { model: loaded } = unwrap(await asked.request('engine.status', {}));
    return loaded?.path === model;
  });
  expect(unwrap(await asked.request('app.info', {})).notices.join()).not.toContain('deadly');
  expect(await third.stop()).toBe(0);
  expect(existsSync(join(dataFolder, 'loading.json'))).toBe(false);
});
