import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock, type Clock } from '../../../src/main/base/index.ts';
import { NvidiaGpus } from '../../../src/main/telemetry/gpu-nvidia.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { temporaryFolder } from '../../support/temp-folder.ts';
import { waitFor } from '../../support/wait-for.ts';

const stayAlive = 'setInterval(() => undefined, 1000);';

/** A program in place of nvidia-smi; it can write its process id, or the number of its start, into `file`. */
function fakeSmi(script: string, clock: Clock = systemClock) {
  const file = join(temporaryFolder(), 'said');
  const prelude = `const fs = require('node:fs'); const file = process.argv[1];`;
  const cards = new NvidiaGpus({ clock, command: [process.execPath, '-e', prelude + script, '--', file] });
  onTestFinished(() => cards.stop());
  return { cards, said: () => readFileSync(file, 'utf8') };
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

it('reads several cards from one program that goes on, and ends it when nobody watches', async () => {
  const { cards, said } = fakeSmi(`
    fs.writeFileSync(file, String(process.pid) + ' ' + process.argv.slice(2).join(' '));
    let load = 10;
    setInterval(() => {
      // Rows do not arrive in whole pieces.
      process.stdout.write('0, Card A, ' + load++ + ', 100, 200, 33.5, 40\\n1, Card');
      process.stdout.write(' B, [N/A], 1, 2, [Not Supported], 50\\n');
    }, 20);
  `);
  expect(cards.read()).toEqual([]);
  cards.start();
  cards.start();
  const both = await waitFor('both cards', () => cards.read().length === 2 && cards.read());
  expect(both).toMatchObject([
    { name: 'Card A', powerWatts: 33.5, memoryTotalBytes: 200 * 1024 * 1024 },
    { name: 'Card B', utilization: null, powerWatts: null, temperatureCelsius: 50 },
  ]);
  const [pid, ...args] = said().split(' ');
  expect(args.join(' ')).toMatch(/^--query-gpu=\S+ --format=csv,noheader,nounits -l 1$/);
  const before = both[0]?.utilization ?? 0;
  await waitFor('newer figures', () => (cards.read()[0]?.utilization ?? 0) > before);
  expect(cards.reason).toBeNull();
  cards.stop();
  expect(cards.read(), 'old figures are not shown as new ones').toEqual([]);
  await waitFor('the end of the program', () => !alive(Number(pid)));
});

it('a machine without nvidia-smi gets a sentence, and no further tries', async () => {
  const clock = new ManualClock();
  const cards = new NvidiaGpus({ clock, command: ['/nonexistent/nvidia-smi'] });
  cards.start();
  expect(await waitFor('the reason', () => cards.reason)).toMatch(/not installed/);
  expect(clock.timers).toEqual([]);
  cards.start();
  expect(clock.timers).toEqual([]);
});

it('one that hangs is ended after 10 s without figures, says so, and is tried again later', async () => {
  const clock = new ManualClock();
  const { cards, said } = fakeSmi(
    `process.on('SIGTERM', () => undefined); fs.appendFileSync(file, process.pid + ' '); console.log('Wed Jan 1'); ${stayAlive}`,
    clock,
  );
  cards.start();
  const pid = await waitFor('the program', () => Number(said().split(' ')[0]));
  clock.advance(9999);
  expect(cards.reason).toBeNull();
  clock.advance(1);
  expect(cards.reason).toMatch(/no figures for 10 s/);
  await waitFor('the end of the program', () => !alive(pid));
  clock.advance(30_000);
  await waitFor('another start', () => said().trim().split(' ').length === 2);
  cards.stop();
  expect(clock.timers).toEqual([]);
});

it('the driver’s complaint becomes the reason', async () => {
  const complaint = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.";
  const { cards } = fakeSmi(`console.log(${JSON.stringify(complaint)}); process.exitCode = 9;`);
  cards.start();
  expect(await waitFor('the reason', () => cards.reason)).toBe(`nvidia-smi says: ${complaint}`);
  expect(cards.read()).toEqual([]);
});

it('half a row at a sudden end gives no figures, and what came before is not shown for ever', async () => {
  const { cards } = fakeSmi(`process.stdout.write('0, Card, 5, 1, 2, 3, 4\\n0, Card, 99, 7, 8, 9, 9');`);
  cards.start();
  expect(await waitFor('the reason', () => cards.reason)).toMatch(/ended by itself/);
  expect(cards.read()).toEqual([]);
});

it('a program that writes no line end does not fill the memory', async () => {
  const { cards } = fakeSmi(`
    process.stdout.write('x'.repeat(3_000_000) + '\\n0, Card, 5, 1, 2, 3, 4\\n');
    ${stayAlive}
  `);
  cards.start();
  expect(await waitFor('the card', () => cards.read()[0])).toMatchObject({ name: 'Card', utilization: 0.05 });
});
