import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CoreSampler, coreReader, parseProcStat } from '../../../src/main/telemetry/cores.ts';
import { AmdGpus } from '../../../src/main/telemetry/gpu-amd.ts';
import { parseNvidiaRow } from '../../../src/main/telemetry/gpu-nvidia.ts';
import { Gpus, type GpuSource } from '../../../src/main/telemetry/gpu.ts';
import { memoryReader, parseMeminfo } from '../../../src/main/telemetry/memory.ts';
import { ProcessCpu } from '../../../src/main/telemetry/process-cpu.ts';
import { RequestMarks } from '../../../src/main/telemetry/request-marks.ts';
import { WorkerSampler, type WorkerTotals } from '../../../src/main/telemetry/workers.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { temporaryFolder } from '../../support/temp-folder.ts';

describe('cores', () => {
  it('reads /proc/stat: waiting for the disk is not busy, guests are not counted twice, the sum line is no core', () => {
    const text = [
      'cpu  300 0 100 600 50 0 0 0 7 0',
      'cpu0 100 10 40 300 50 5 5 10 7 3',
      'cpu11 200 0 60 300 0 0 0 0 0 0',
      'intr 12345 0',
    ].join('\n');
    expect(parseProcStat(text)).toEqual([
      { busy: 170, total: 520 },
      { busy: 260, total: 560 },
    ]);
  });

  it('gives shares between two looks, never beyond 0..1, also when a counter goes backwards', () => {
    const looks = [
      [
        { busy: 100, total: 200 },
        { busy: 50, total: 60 },
      ],
      [
        { busy: 125, total: 300 },
        { busy: 40, total: 80 },
      ],
      [
        { busy: 125, total: 300 },
        { busy: 90, total: 120 },
      ],
    ];
    const sampler = new CoreSampler(() => looks.shift() ?? []);
    expect(sampler.sample()).toEqual([0, 0]);
    expect(sampler.sample()).toEqual([0.25, 0]);
    expect(sampler.sample(), 'a core without time passed has no share').toEqual([0, 1]);
  });

  it('does not compare cores after one was switched off or on', () => {
    const looks = [
      [{ busy: 0, total: 0 }],
      [
        { busy: 5, total: 10 },
        { busy: 900, total: 1000 },
      ],
      [],
    ];
    const sampler = new CoreSampler(() => looks.shift() ?? []);
    sampler.sample();
    expect(sampler.sample()).toEqual([0, 0]);
    expect(sampler.sample(), 'a system that does not tell').toEqual([]);
  });

  it('an unreadable /proc/stat is no cores and no exception', () => {
    expect(new CoreSampler(coreReader('linux', '/nonexistent/stat')).sample()).toEqual([]);
    expect(new CoreSampler(coreReader('darwin')).sample().length, 'other systems: as Node tells').toBeGreaterThan(0);
  });
});

describe('process CPU', () => {
  it('is a rate over the time since the last look; the one over 10 s is null until there were 10 s', () => {
    let cpu = 1000;
    const process = new ProcessCpu(() => cpu);
    expect(process.sample(0)).toEqual({ cores: 0, coresLast10s: null });
    cpu += 250;
    expect(process.sample(500)).toEqual({ cores: 0.5, coresLast10s: null });
    expect(process.sample(9999)).toEqual({ cores: 0, coresLast10s: null });
    expect(process.sample(10_000).coresLast10s).toBe(0.025);
    expect(process.sample(10_600).coresLast10s, 'the look at 500 ms is the one 10 s ago').toBe(0);
    process.clear();
    expect(process.sample(60_000).coresLast10s, 'a time without looks is not measured').toBeNull();
  });
});

describe('workers', () => {
  const worker = (more: Partial<WorkerTotals>): WorkerTotals => ({
    ...{ id: 1, state: 'asleep', benched: false, busyMs: 0, spinMs: 0, asleepMs: 0, cpuMs: 0, wakes: 0 },
    ...more,
  });

  it('gives what was added since the last look', () => {
    const sampler = new WorkerSampler();
    sampler.sample([worker({ busyMs: 10, spinMs: 20, asleepMs: 1000, cpuMs: 30, wakes: 2 })]);
    const now = worker({ state: 'computing', busyMs: 210, spinMs: 40, asleepMs: 1280, cpuMs: 250, wakes: 5 });
    expect(sampler.sample([now])).toEqual([{ ...now, busyMs: 200, spinMs: 20, asleepMs: 280, cpuMs: 220, wakes: 3 }]);
  });

  it('a new pool, whose sums begin again, gives no negative times', () => {
    const sampler = new WorkerSampler();
    sampler.sample([worker({ busyMs: 5000, asleepMs: 90_000, wakes: 40 })]);
    const fresh = worker({ spinMs: 300, cpuMs: 300 });
    expect(sampler.sample([fresh])).toEqual([fresh]);
  });
});

describe('memory', () => {
  it('reads what the system can give, in bytes', () => {
    const text = 'MemTotal:       16000000 kB\nMemFree:  1 kB\nMemAvailable:    8000000 kB\n';
    expect(parseMeminfo(text)).toEqual({ totalBytes: 16_384_000_000, availableBytes: 8_192_000_000 });
    expect(parseMeminfo('MemTotal: 5 kB'), 'an old kernel without MemAvailable').toBeNull();
  });

  it('falls back to Node where there is no /proc/meminfo', () => {
    const { rssBytes, availableBytes, totalBytes } = memoryReader('linux', '/nonexistent/meminfo')();
    expect(rssBytes).toBeGreaterThan(1_000_000);
    expect(availableBytes).toBeGreaterThan(0);
    expect(totalBytes).toBeGreaterThan(availableBytes);
  });
});

describe('rows of nvidia-smi', () => {
  it('reads figures, and null for each that the driver does not tell instead of 0 or a lost row', () => {
    expect(parseNvidiaRow('0, NVIDIA GeForce RTX 3090, 37, 20480, 24576, 211.53, 61')).toEqual({
      index: 0,
      sample: {
        name: 'NVIDIA GeForce RTX 3090',
        utilization: 0.37,
        memoryUsedBytes: 20480 * 1024 * 1024,
        memoryTotalBytes: 24576 * 1024 * 1024,
        powerWatts: 211.53,
        temperatureCelsius: 61,
      },
    });
    const row = parseNvidiaRow('3, Quadro, [N/A], [Not Supported], [Unknown Error], , [GPU requires reset]');
    expect(row).toEqual({
      index: 3,
      sample: {
        name: 'Quadro',
        ...{ utilization: null, memoryUsedBytes: null, memoryTotalBytes: null },
        ...{ powerWatts: null, temperatureCelsius: null },
      },
    });
  });

  it.each([
    '',
    'No devices were found',
    '0, NVIDIA GeForce RTX 3090, 37',
    'NVIDIA-SMI has failed because, a, b, c, d, e, f',
  ])('takes %j for words', (line) => expect(parseNvidiaRow(line)).toBeNull());
});

describe('AMD cards', () => {
  const card = (root: string, name: string, files: Record<string, string>) => {
    for (const [path, text] of Object.entries(files)) {
      const file = join(root, name, 'device', path);
      mkdirSync(join(file, '..'), { recursive: true });
      writeFileSync(file, `${text}\n`);
    }
  };

  it('are read from the kernel’s files, in order, and other makers’ cards and connectors are left out', () => {
    const root = temporaryFolder();
    const figures = { gpu_busy_percent: '42', mem_info_vram_used: '1048576', mem_info_vram_total: '17163091968' };
    const sensors = { 'hwmon/hwmon4/power1_average': '95000000', 'hwmon/hwmon4/temp1_input': '61500' };
    card(root, 'card10', { vendor: '0x1002', 'hwmon/hwmon7/power1_input': '3000000' });
    card(root, 'card1', { vendor: '0x1002', product_name: 'Radeon RX 7800 XT', ...figures, ...sensors });
    card(root, 'card0', { vendor: '0x8086' });
    card(root, 'card1-DP-1', { vendor: '0x1002' });
    const cards = new AmdGpus(root);
    expect(cards.read(), 'nothing is read before the start').toEqual([]);
    cards.start();
    const [first, second, ...more] = cards.read();
    expect(first).toEqual({
      name: 'Radeon RX 7800 XT',
      utilization: 0.42,
      memoryUsedBytes: 1_048_576,
      memoryTotalBytes: 17_163_091_968,
      powerWatts: 95,
      temperatureCelsius: 61.5,
    });
    expect(second).toMatchObject({ name: 'AMD graphics (card10)', utilization: null, powerWatts: 3 });
    expect(more).toEqual([]);
  });

  it('a card that is switched off is not asked, which would wake it', () => {
    const root = temporaryFolder();
    card(root, 'card0', { vendor: '0x1002', gpu_busy_percent: '99', 'power/runtime_status': 'suspended' });
    const cards = new AmdGpus(root);
    cards.start();
    expect(cards.read()).toEqual([
      {
        ...{ name: 'AMD graphics (card0)', utilization: 0, memoryUsedBytes: null, memoryTotalBytes: null },
        ...{ powerWatts: null, temperatureCelsius: null },
      },
    ]);
  });

  it('no such folder is no cards', () => {
    const cards = new AmdGpus('/nonexistent/drm');
    cards.start();
    expect(cards.read()).toEqual([]);
  });
});

it('the reason for no cards is a sentence, and none is given while figures are still awaited', () => {
  const source = (reason: string | null): GpuSource => ({
    reason,
    start: () => undefined,
    stop: () => undefined,
    read: () => [],
  });
  expect(new Gpus([source('nvidia-smi is not installed.'), source(null)]).reason).toBe(
    'No graphics card to show. nvidia-smi is not installed.',
  );
  expect(new Gpus([source(null)]).reason).toBeNull();
  expect(new Gpus([]).reason).toMatch(/^This system/);
});

describe('request marks', () => {
  it('are kept for 120 s after the end; those that run are kept however long', () => {
    const clock = new ManualClock();
    const marks = new RequestMarks(clock);
    const heard: string[] = [];
    marks.on(({ id, endedAt }) => heard.push(`${id} ${endedAt === null ? 'begins' : 'ends'}`));
    marks.begin('long', 'chat');
    const end = marks.begin('short', 'api');
    clock.advance(1000);
    end();
    expect(marks.all.at(1)).toEqual({
      id: 'short',
      source: 'api',
      startedAt: clock.now() - 1000,
      endedAt: clock.now(),
    });
    clock.advance(120_001);
    expect(marks.all.map(({ id }) => id)).toEqual(['long']);
    expect(heard).toEqual(['long begins', 'short begins', 'short ends']);
  });

  it('a program that asks without end does not fill the memory', () => {
    const marks = new RequestMarks(new ManualClock());
    for (let id = 0; id < 3000; id++) marks.begin(String(id), 'api')();
    expect(marks.all.length).toBeLessThanOrEqual(1000);
    expect(marks.all.at(-1)?.id).toBe('2999');
  });
});
