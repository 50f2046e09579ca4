import { expect, it } from 'vitest';
import { startServer } from './fakes.ts';

it('GET /v1/status has the fields that tools rely on, also without a pool and before the first answer', async () => {
  const { url } = await startServer();
  const reply = await fetch(`${url}/v1/status`);
  expect(reply.status).toBe(200);
  expect(await reply.json()).toMatchObject({
    service: 'dormouse',
    version: '1.2.3',
    engine: { state: 'ready', since: 0, model: { id: 'mini-q8_0', experts: 8, expertsUsed: 2 } },
    pool: { installed: false, threads: 0, workers: [], asleepSince: null },
    cpu: { coresLast10s: null },
    ladder: { step: 'asleep', since: 7, wokeInMs: null, model: null },
    placement: null,
    lastTimings: null,
    queue: { running: 0, waiting: 0 },
  });
});

it('needs the key where one is set (worker times tell when somebody works)', async () => {
  const { url } = await startServer({ apiKey: 'key' });
  expect((await fetch(`${url}/v1/status`)).status).toBe(401);
});
