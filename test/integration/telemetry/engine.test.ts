import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  telemetryHistorySchema,
  telemetrySampleSchema,
  type TelemetrySample,
} from '../../../src/main/contract/index.ts';
import { addonPath } from '../../../src/main/engine/index.ts';
import { unwrap } from '../../support/engine.ts';
import { slowModelPath } from '../../support/gguf.ts';
import { realServices } from '../../support/real-services.ts';
import { temporaryFolder } from '../../support/temp-folder.ts';
import { waitFor } from '../../support/wait-for.ts';

const built = existsSync(addonPath(fileURLToPath(new URL('../../..', import.meta.url))));
const pool = { 'pool-threads': 2, 'spin-ms': 5 } as const;

async function watchedServices() {
  const services = await realServices(temporaryFolder(), pool);
  onTestFinished(() => services.close());
  const samples: TelemetrySample[] = [];
  const marks: (number | null)[] = [];
  services.telemetry.on((event) => {
    if (event.type === 'telemetry.sample') samples.push(event.sample);
    else marks.push(event.mark.endedAt);
  });
  services.ladder.pagesSeen(1);
  return { ...services, samples, marks };
}

/** CPU time of the pool's threads as the system counts it, in ms. */
function threadClocks(): number {
  return readdirSync('/proc/self/task')
    .map((task) => readFileSync(`/proc/self/task/${task}/stat`, 'utf8'))
    .filter((stat) => stat.includes('(dormouse-exp-'))
    .map((stat) =>
      stat
        .replace(/^.*\) /s, '')
        .split(' ')
        .map(Number),
    )
    .reduce((sum, fields) => sum + ((fields[11] ?? 0) + (fields[12] ?? 0)) * 10, 0);
}

describe.skipIf(!built)('samples of the engine (skipped: the addon is not built, install cmake and g++)', () => {
  it('show the pool computing during an answer, then asleep at no cost, with the request marked', async () => {
    const { models, completions, telemetry, samples, marks } = await watchedServices();
    unwrap(await models.load(slowModelPath(), { remember: false }));
    telemetryHistorySchema.parse(telemetry.watch());
    const stop = new AbortController();
    const turns = [{ role: 'user' as const, text: 'mouse '.repeat(200) }];
    const running = completions.complete(
      {
        prompt: { kind: 'chat', turns },
        sampling: { maxTokens: 8000 },
        stop: [],
        logitBias: new Map(),
        output: { kind: 'text' },
        tools: null,
        model: null,
      },
      () => undefined,
      stop.signal,
    );
    const renew = () => telemetry.watch();
    const computing = await waitFor('a sample with a worker at work', () => {
      renew();
      return samples.find(({ workers, poolCores }) => workers.some(({ busyMs }) => busyMs > 0) && poolCores > 0);
    });
    expect(computing.ladder, 'the ladder of a sample is that of its engine').toBe('computing');
    const decoding = await waitFor('a sample of the decode', () =>
      samples.find(({ engine }) => engine.tokensPerSecond),
    );
    expect(decoding.engine).toMatchObject({ state: 'generating', contextSize: 8192 });
    expect(decoding.engine.contextUsed).toBeGreaterThan(200);
    expect(decoding.memory.modelBytes).toBeGreaterThan(10_000_000);
    stop.abort();
    unwrap(await running);
    const since = samples.length;
    const asleep = await waitFor('a sample of sleeping workers', () => {
      renew();
      return samples.slice(since).find(({ workers, poolCores }) => poolCores === 0 && workers[0]?.busyMs === 0);
    });
    expect(asleep).toMatchObject({ ladder: 'asleep', engine: { state: 'ready', tokensPerSecond: null } });
    expect(asleep.workers).toMatchObject([{ state: 'asleep', busyMs: 0, spinMs: 0, cpuMs: 0 }]);
    expect(asleep.engine.timeToFirstTokenMs).toBeGreaterThan(0);
    const total = samples.reduce((sum, { elapsedMs }) => sum + elapsedMs, 0);
    const told = samples
      .flatMap(({ workers }) => workers)
      .reduce((sum, w) => sum + w.busyMs + w.spinMs + w.asleepMs, 0);
    expect(Math.abs(told - total), `a worker's times are ${told} of ${total} ms`).toBeLessThan(total * 0.3);
    expect(samples.map((sample) => telemetrySampleSchema.safeParse(sample).success)).not.toContain(false);
    expect(marks).toEqual([null, expect.any(Number)]);
    telemetry.unwatch(1);
  });

  it.skipIf(process.platform !== 'linux')(
    'agree with the threads’ clocks while the workers are made to spin; afterwards they sleep as before',
    async () => {
      const { models, telemetry, engine, samples } = await watchedServices();
      unwrap(await models.load('builtin', { remember: false }));
      telemetry.watch();
      const [endsAt, again] = [unwrap(telemetry.spinDemo()), unwrap(telemetry.spinDemo())];
      expect(again, 'asked twice it still ends').toEqual(endsAt);
      expect(endsAt.endsAt).toBeGreaterThan(Date.now());
      // A new pool: what its threads have used so far is what the samples say, once they are read at the same time.
      const difference = { ours: 0, theirs: 0 };
      telemetry.on((event) => {
        if (event.type !== 'telemetry.sample') return;
        difference.ours += event.sample.workers.reduce((sum, { cpuMs }) => sum + cpuMs, 0);
        difference.theirs = threadClocks();
      });
      await waitFor('half a second of spinning', () => difference.theirs > 500);
      expect(Math.abs(difference.ours - difference.theirs), JSON.stringify(difference)).toBeLessThan(
        difference.theirs * 0.4,
      );
      expect(
        samples.some(({ ladder }) => ladder === 'spinning'),
        'the ladder tells it',
      ).toBe(true);
      expect(samples.some(({ workers }) => workers.some(({ state }) => state === 'spinning'))).toBe(true);
      // A load ends it early, as a change of the pool does.
      unwrap(await models.load('builtin', { remember: false }));
      expect(engine.poolStats()).toMatchObject({ spinMs: 5 });
      await waitFor('all asleep again', () => engine.poolStats()?.workers.every(({ state }) => state === 'asleep'));
      await waitFor('the ladder asleep again', () => samples.at(-1)?.ladder === 'asleep');
    },
  );
});

it('without a pool there is nothing to spin, and the refusal says what to do', async () => {
  const services = await realServices(temporaryFolder(), { pool: 'off' });
  onTestFinished(() => services.close());
  unwrap(await services.models.load('builtin', { remember: false }));
  expect(services.telemetry.spinDemo()).toMatchObject({ ok: false, error: { code: 'pool_not_installed' } });
});
