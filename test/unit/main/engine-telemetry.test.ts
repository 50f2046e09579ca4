import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it, onTestFinished } from 'vitest';
import { silentLogger } from '../../../src/main/base/index.ts';
import { EngineTelemetry } from '../../../src/main/services/index.ts';
import { RequestMarks } from '../../../src/main/telemetry/index.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { ScriptedEngine } from '../../support/scripted-engine.ts';
import { FakeLadder } from '../../support/services.ts';

const cores = 16;
const minute = 60_000;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function watched() {
  const clock = new ManualClock();
  const marks = new RequestMarks(clock);
  const machine = { busy: 0 };
  const telemetry = new EngineTelemetry({
    ...{ engine: new ScriptedEngine(), ladder: new FakeLadder(), marks, clock, logger: silentLogger, mapped: true },
    machine: {
      cores: () =>
        Array.from({ length: cores }, (_, core) => ({ busy: machine.busy * core, total: clock.elapsed() * cores })),
      cpuTime: () => machine.busy,
      memory: () => ({ rssBytes: 1e9 + machine.busy, availableBytes: 2e9, totalBytes: 4e9 }),
      gpus: { reason: 'none here', start: () => undefined, stop: () => undefined, read: () => [] },
    },
  });
  onTestFinished(() => telemetry.close());
  return { clock, marks, machine, telemetry };
}

it('tells a request that came and went between two samples once, before the sample that shows it (bug: 70 events a second)', () => {
  const { clock, marks, telemetry } = watched();
  const heard: string[] = [];
  telemetry.on((event) => heard.push(event.type === 'telemetry.mark' ? event.mark.id : 'sample'));
  telemetry.watch();
  for (const id of ['a', 'b']) marks.begin(id, 'api')();
  const end = marks.begin('c', 'chat');
  clock.advance(500);
  end();
  clock.advance(500);
  expect(heard).toEqual(['a', 'b', 'c', 'sample', 'c', 'sample']);
});

it('an hour of a watched Monitor, with two requests a second, leaves nothing in main (bug: every sample or mark stays)', async () => {
  const { clock, marks, machine, telemetry } = watched();
  let samples = 0;
  telemetry.on(({ type }) => (samples += type === 'telemetry.sample' ? 1 : 0));
  const watch = (minutes: number) => {
    for (let at = 0; at < minutes * minute; at += 500) {
      // Moves by more than a pixel each time, so that sampling stays at 2 Hz.
      machine.busy += at % 1000 === 0 ? 400 : 100;
      const end = marks.begin(`request ${samples}`, 'api');
      clock.advance(500);
      end();
      if (at % 5000 === 0) telemetry.watch();
    }
  };
  telemetry.watch();
  watch(5);
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  samples = 0;
  watch(60);
  expect(samples).toBeGreaterThan(7000);
  collectGarbage();
  // All samples would be more than 10 MB.
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(2_000_000);
  expect(telemetry.watch().samples.length).toBeLessThan(300);
});
