import { copyFileSync, rmSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { silentLogger } from '../../../src/main/base/index.ts';
import { createServer } from '../../../src/main/server/index.ts';
import { builtinPath, unwrap } from '../../support/engine.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { realServices } from '../../support/real-services.ts';
import { temporaryFolder } from '../../support/temp-folder.ts';
import { waitFor } from '../../support/wait-for.ts';
import { FakeDispatcher, postJson } from './fakes.ts';

/** Six seconds of idleness, by a clock that the test moves. */
async function start() {
  const folder = temporaryFolder();
  const clock = new ManualClock();
  const services = await realServices(folder, { 'idle-unload': 0.1 }, { ladder: clock });
  const server = createServer({
    ...services,
    dispatcher: new FakeDispatcher(),
    logger: silentLogger,
    options: {
      ...{ host: '127.0.0.1', port: 0, apiKey: null, ownerToken: () => null, corsOrigins: [], allowedHosts: [] },
      ...{ version: '1', rendererFolder: folder },
    },
  });
  onTestFinished(async () => {
    await server.close();
    await services.close();
  });
  const { url } = unwrap(await server.start());
  unwrap(await services.models.load('builtin'));
  const hibernate = async () => {
    await waitFor('an engine that may hibernate', () => clock.timers.length > 0);
    clock.advance(6000);
    await waitFor('hibernation', () => services.ladder.status().step === 'hibernated');
  };
  const status = async () =>
    (await (await fetch(`${url}/v1/status`)).json()) as Record<string, Record<string, unknown>>;
  return { ...services, url, clock, hibernate, status };
}

const question = {
  messages: [{ role: 'user', content: 'What is the capital city of Norway, please?' }],
  temperature: 0,
};

it('a completion asked of a hibernated engine loads the model again and succeeds, streamed or not', async () => {
  const { url, hibernate, status, models } = await start();
  await hibernate();
  expect(models.status()).toMatchObject({ state: 'empty', model: null });
  expect(await status()).toMatchObject({
    engine: { state: 'empty', model: null },
    ladder: { step: 'hibernated', wokeInMs: null, model: 'builtin' },
  });
  const replies = await Promise.all([
    postJson(`${url}/v1/chat/completions`, question),
    postJson(`${url}/v1/chat/completions`, { ...question, model: 'builtin' }),
    postJson(`${url}/v1/chat/completions`, { ...question, stream: true }),
  ]);
  expect(replies.map((reply) => reply.status)).toEqual([200, 200, 200]);
  expect(await replies[0].json()).toMatchObject({
    model: 'builtin',
    choices: [{ message: { content: 'The capital of Norway is Oslo.' } }],
  });
  expect(await replies[2].text()).toContain('[DONE]');
  expect(await status()).toMatchObject({ engine: { state: 'ready' }, ladder: { model: null } });
  expect((await status())['ladder']?.['wokeInMs']).not.toBeNull();
  // And down again.
  await hibernate();
});

it('a chat wakes its engine too, also one with a model of its own', async () => {
  const { hibernate, chat, models } = await start();
  for (const model of [null, 'builtin']) {
    await hibernate();
    const started = unwrap(await chat.send({ text: 'What is 8 plus 6, please?', options: { model } }));
    const answer = await waitFor('the answer', async () => {
      const { messages } = unwrap(await chat.get(started.conversationId));
      return messages.find(({ id, status }) => id === started.answerId && status !== 'streaming');
    });
    expect(answer).toMatchObject({ status: 'done', text: '8 + 6 = 14.' });
    expect(models.status().model?.path).toBe(builtinPath);
  }
});

it('a model that a person unloads stays unloaded: requests are told so, as ever', async () => {
  const { url, hibernate, models, status } = await start();
  await hibernate();
  unwrap(await models.unload());
  const reply = await postJson(`${url}/v1/chat/completions`, question);
  expect(reply.status).toBe(503);
  expect(await reply.json()).toMatchObject({ error: { code: 'no_model' } });
  expect((await status())['ladder']?.['model']).toBeNull();
});

it('a model that is gone when it should wake: the reply says why, and the next load by hand works', async () => {
  const { url, hibernate, models } = await start();
  const path = `${temporaryFolder()}/gone.gguf`;
  copyFileSync(builtinPath, path);
  unwrap(await models.load(path));
  await hibernate();
  rmSync(path);
  const reply = await postJson(`${url}/v1/chat/completions`, question);
  expect(reply.status).toBe(503);
  const { error } = (await reply.json()) as { error: { message: string } };
  expect(error.message).toMatch(/had left memory and could not be loaded again.*gone\.gguf/s);
  unwrap(await models.load('builtin'));
  expect((await postJson(`${url}/v1/chat/completions`, question)).status).toBe(200);
});
