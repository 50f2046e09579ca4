import { readFileSync } from 'node:fs';
import type { CDPSession, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { accessFaults } from '../support/access-faults.ts';
import { AppProcess } from '../support/app-process.ts';
import { browserTest as it } from '../support/chromium.ts';
import { injectMain } from '../support/fake-main.ts';
import {
  injectTelemetry,
  sampleAt,
  scene,
  sceneMarks,
  workerOver,
  type FakeTelemetry,
} from '../support/fake-telemetry.ts';
import { containsText } from '../support/page.ts';
import { waitFor } from '../support/wait-for.ts';

/** The built page over a main that only plays its part: so every figure on it is known. */
let app: AppProcess;
beforeAll(async () => void (app = await AppProcess.start()));
afterAll(() => app.stop());

const start = new Date(2026, 2, 2, 12, 40).getTime();
const machine = { cores: 4, threads: 2, gpu: true };
const usual: FakeTelemetry = { samples: scene(start, 156, machine), marks: sceneMarks(start) };

async function open(page: Page, telemetry: FakeTelemetry = usual, where: 'monitor' | 'chat' = 'monitor') {
  await page.addInitScript(injectMain, []);
  await page.addInitScript(injectTelemetry, telemetry);
  await page.goto(app.origin);
  await page.getByRole('textbox', { name: 'Message' }).waitFor();
  const pages = page.getByRole('navigation', { name: 'Pages' });
  if (where === 'monitor') await pages.getByRole('button', { name: 'Monitor' }).click();
  return {
    pages,
    workers: page.getByRole('img', { name: /pool threads did/ }),
    cores: page.getByRole('img', { name: /logical cores/ }),
    table: page.getByRole('button', { name: 'Table' }),
    pause: page.getByRole('button', { name: 'Pause' }),
    panel: page.getByRole('complementary', { name: 'Engine' }),
  };
}

const emit = (page: Page, ...samples: readonly ReturnType<typeof sampleAt>[]) =>
  page.evaluate((all) => all.forEach((sample) => window.fakeMain.emit({ type: 'telemetry.sample', sample })), samples);
const callsOf = (page: Page) => page.evaluate(() => window.telemetryCalls);
const drawsOf = async (page: Page) =>
  page.locator('canvas').evaluateAll((all) => all.map((canvas) => Number((canvas as HTMLElement).dataset['draws'])));

/** How many different colours a part of a canvas has; CSS pixels. */
function coloursAt(page: Page, canvas: number, x: number, y: number, width: number, height: number): Promise<number> {
  return page.evaluate(
    ([at, left, top, wide, high]) => {
      const element = document.querySelectorAll('canvas')[at]!;
      const { data } = element.getContext('2d')!.getImageData(left, top, wide, high);
      const colours = new Set<string>();
      for (let index = 0; index < data.length; index += 4) colours.add(data.slice(index, index + 4).join());
      return colours.size;
    },
    [canvas, x, y, width, height] as const,
  );
}

describe('the Monitor page', () => {
  it('draws cores and workers, and tells states by texture (bug: a blank canvas, or states by colour alone)', async ({
    page,
    problems,
  }) => {
    // Twenty seconds each of sleep, spinning and computing.
    const strips = Array.from({ length: 120 }, (_, at) =>
      sampleAt(start + (at + 1) * 500, {
        workers: [at < 40 ? workerOver(0, 0, 0) : at < 80 ? workerOver(0, 0, 500) : workerOver(0, 500, 0)],
        cores: [at % 2],
      }),
    );
    const monitor = await open(page, { samples: strips });
    await monitor.workers.waitFor();
    await page.getByRole('heading', { name: 'Memory' }).waitFor();
    const width = (await monitor.workers.boundingBox())!.width - 22;
    const part = (third: number) => coloursAt(page, 0, Math.round(22 + (third + 0.25) * (width / 3)), 2, 60, 12);
    const [asleep, spinning, computing] = [await part(0), await part(1), await part(2)];
    expect(computing).toBe(1);
    expect(asleep).toBe(2);
    // Slanted stripes have softened edges.
    expect(spinning).toBeGreaterThan(2);
    expect(await coloursAt(page, 1, 40, 0, 200, 40)).toBeGreaterThan(2);
    expect(problems).toEqual([]);
  });

  it('says step, figure and since, and follows the ladder (bug: figures that stand still)', async ({ page }) => {
    await open(page, { ...usual, ladder: { since: start + 75_000 } });
    const headline = page.getByRole('region', { name: 'Engine' });
    await containsText(headline, /Asleep.*since.*0\.00.*cores over the last 10 s/s);
    await emit(page, sampleAt(start + 80_000, { appCores: 7, coresLast10s: 3.21, cores: [1, 1, 1, 1] }));
    await page.evaluate((since) => {
      const ladder = { step: 'waking', since, wokeInMs: null, idleUnloadMinutes: 30 };
      window.fakeMain.emit({ type: 'ladder.changed', ladder });
    }, start + 78_000);
    await containsText(headline, /Waking · 2\.0 s.*3\.21/s);
    await containsText(page.getByRole('status', { name: 'Engine state' }), 'Waking…');
  });

  it('draws nothing while nothing changes by a pixel, and all of it in a new theme (bug: a chart that costs at rest)', async ({
    page,
  }) => {
    const rest = Array.from({ length: 260 }, (_, at) =>
      sampleAt(start + at * 500, { workers: [workerOver(0, 0, 0), workerOver(1, 0, 0)] }),
    );
    const monitor = await open(page, { samples: rest.slice(0, 240) });
    await monitor.cores.waitFor();
    await page.getByRole('heading', { name: 'Memory' }).waitFor();
    const charts = () => page.locator('.charts').innerHTML();
    await waitFor('the first drawing', async () => (await drawsOf(page)).every((draws) => draws > 0));
    const before = [await drawsOf(page), await charts()];
    for (const sample of rest.slice(240, 259)) await emit(page, sample);
    await emit(page, sampleAt(rest[259]!.at, { workers: rest[259]!.workers, engine: { contextUsed: 777 } }));
    await page.getByText('777 / 8,192').waitFor();
    expect([await drawsOf(page), await charts()]).toEqual(before);
    const draws = await drawsOf(page);
    await page.getByText('Dark', { exact: true }).click();
    await waitFor('the new colours', async () => (await drawsOf(page)).every((now, at) => now > draws[at]!));
  });

  it('shows what is under the pointer and under the arrow keys (bug: values only for a mouse)', async ({ page }) => {
    const monitor = await open(page);
    await monitor.workers.waitFor();
    const workers = page.getByRole('region', { name: 'Workers' });
    const box = (await monitor.workers.boundingBox())!;
    await page.mouse.move(box.x + box.width - 3, box.y + 5);
    await containsText(workers, /Thread 0 · 12:41:1\d · computing 0 % · spinning 0 % · asleep 100 %/);
    await page.mouse.move(box.x, box.y - 60);
    await containsText(workers, 'One strip per pool thread');
    await monitor.workers.focus();
    await page.keyboard.press('ArrowLeft');
    await containsText(workers, 'Thread 0 ·');
    await page.keyboard.press('ArrowDown');
    await containsText(workers, 'Thread 1 ·');
    await monitor.cores.focus();
    await page.keyboard.press('ArrowRight');
    await containsText(page.getByRole('region', { name: 'Cores' }), /Core 0 · 12:41:17 · \d+ %/);
    await page.keyboard.press('Escape');
    await containsText(page.getByRole('region', { name: 'Cores' }), '4 logical cores');
  });

  it('is a table that equals the samples, and stands still while paused (bug: another truth for screen readers)', async ({
    page,
  }) => {
    const monitor = await open(page);
    await monitor.table.click();
    const rows = page.getByRole('table', { name: 'Samples' }).locator('tbody tr');
    await rows.first().waitFor();
    const cells = async (at: number) => (await rows.nth(at).locator('td').allInnerTexts()).slice(0, 4);
    const expected = usual.samples.slice(-120).reverse();
    expect(await rows.count()).toBe(expected.length);
    for (const at of [0, 7, 30]) {
      const { ladder, appCores, poolCores, engine } = expected[at]!;
      const speed = engine.tokensPerSecond;
      const step = ladder === 'computing' ? 'Computing' : 'Asleep';
      expect(await cells(at)).toEqual([step, appCores.toFixed(2), poolCores.toFixed(2), speed?.toFixed(1) ?? '–']);
    }
    await monitor.pause.click();
    await containsText(page.getByRole('alert'), 'Paused');
    await emit(page, sampleAt(start + 156 * 500, { appCores: 5.55 }));
    expect((await cells(0))[1]).not.toBe('5.55');
    await monitor.pause.click();
    await waitFor('the sample that came meanwhile', async () => (await cells(0))[1] === '5.55');
    await page.getByText('120 s', { exact: true }).click();
    await waitFor('two minutes', async () => (await rows.count()) === usual.samples.length + 1);
  });

  it('exports what it shows (bug: an empty file)', async ({ page }) => {
    await open(page);
    const save = async (name: string) => {
      await page.getByRole('button', { name: 'Export' }).click();
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name }).click(),
      ]);
      return readFileSync(await download.path(), 'utf8');
    };
    const rows = (await save('Export as CSV')).trimEnd().split('\r\n');
    expect(rows.length).toBe(usual.samples.length + 1);
    expect(JSON.parse(await save('Export as JSON'))).toEqual({ samples: usual.samples, marks: usual.marks });
  });

  it('shows what spinning costs (bug: a button without an answer)', async ({ page }) => {
    await open(page);
    await page.getByRole('button', { name: 'Show what spinning costs' }).click();
    await page.getByRole('button', { name: '5 s left' }).waitFor();
    const end = start + 155 * 500;
    for (let at = 1; at <= 11; at += 1) {
      await emit(page, sampleAt(end + at * 500, { appCores: 6.95, workers: [workerOver(0, 0, 500)] }));
    }
    await containsText(page.getByRole('region', { name: 'Workers' }), /cores before, 6\.95 while spinning/);
  });

  it('has words where there is nothing to draw (bug: an empty box)', async ({ page }) => {
    const pool = { installed: false, reason: 'The native core is not built.', threads: 4, spinMs: 20 };
    const gpuReason = 'No GPU was found.';
    const samples = [sampleAt(start, { cores: [] })];
    await open(page, { samples, pool, gpuReason });
    for (const text of [pool.reason, gpuReason, 'This system does not tell how busy its cores are.']) {
      await page.getByText(text).waitFor();
    }
  });

  it('waits in words, says what failed, and comes back (bug: a page that is blank for ever)', async ({ page }) => {
    await open(page, { samples: [] });
    await page.getByText('Waiting for the first sample').waitFor();
    await emit(page, ...usual.samples.slice(-3));
    await page.getByRole('heading', { name: 'Workers' }).waitFor();
  });

  it('passes axe in both themes, as pictures and as a table', async ({ page, problems }) => {
    const monitor = await open(page, { ...usual, samples: usual.samples.slice(-20) });
    await page.getByRole('heading', { name: 'GPU load' }).waitFor();
    for (const theme of ['Light', 'Dark']) {
      await page.getByText(theme, { exact: true }).click();
      expect(await accessFaults(page), theme).toEqual([]);
      await monitor.table.click();
      expect(await accessFaults(page), `${theme}, table`).toEqual([]);
      await monitor.table.click();
      await page.getByRole('heading', { name: 'GPU load' }).waitFor();
    }
    expect(problems).toEqual([]);
  });
});

describe('what watching costs', () => {
  it('ends when the page is hidden, and begins again (bug: a hidden tab keeps main measuring)', async ({ page }) => {
    await open(page);
    await waitFor('the lease', async () => (await callsOf(page))['watch'] === 1);
    const see = (state: 'hidden' | 'visible') =>
      page.evaluate((value) => {
        Object.defineProperty(document, 'visibilityState', { value, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      }, state);
    await see('hidden');
    expect(await callsOf(page)).toEqual({ watch: 1, unwatch: 1 });
    await see('visible');
    await waitFor('the lease', async () => (await callsOf(page))['watch'] === 2);
  });

  it('an hour of samples leaves no memory behind (bug: every sample stays)', async ({ page, annotate }) => {
    await open(page, { samples: [] });
    const session = await page.context().newCDPSession(page);
    const batch = scene(0, 360, machine);
    // Shifted in the page: sending an hour of samples through the test would take longer than to draw them.
    const hour = (from: number, count: number) =>
      page.evaluate(
        async ([all, begin, end]) => {
          for (let at = 0; at < end; at += 1) {
            const sample = all[at % all.length]!;
            window.fakeMain.emit({ type: 'telemetry.sample', sample: { ...sample, at: begin + at * 500 } });
            if (at % 60 === 0) await new Promise((resolve) => requestAnimationFrame(resolve));
          }
        },
        [batch, from, count] as const,
      );
    await hour(start, 1200);
    await page.getByRole('heading', { name: 'GPU load' }).waitFor();
    const before = await heapOf(page, session);
    await hour(start + 1200 * 500, 7200);
    let after = 0;
    await waitFor('the heap to return to within 20 % of its start', async () => {
      after = await heapOf(page, session);
      return after / before < 1.2;
    });
    await annotate(`${(before / 1e6).toFixed(1)} MB before, ${(after / 1e6).toFixed(1)} MB after`);
  });
});

describe('the panel beside the chat', () => {
  it('watches only while it is open, and leads to the Monitor (bug: a closed panel costs)', async ({
    page,
    problems,
  }) => {
    const { panel, pages, cores } = await open(page, usual, 'chat');
    await containsText(panel, /Asleep.*0\.00.*last 41/s);
    expect(await accessFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Hide engine panel' }).click();
    await waitFor('the end of the lease', async () => (await callsOf(page))['unwatch'] === 1);
    await page.reload();
    await page.getByRole('textbox', { name: 'Message' }).waitFor();
    expect([await panel.count(), await callsOf(page)]).toEqual([0, {}]);
    await page.getByRole('button', { name: 'Show engine panel' }).press('Enter');
    await panel.getByRole('button', { name: 'Open Monitor' }).press('Enter');
    await cores.waitFor();
    expect(await callsOf(page)).toEqual({ watch: 1 });
    await page.reload();
    await cores.waitFor();
    await pages.getByRole('button', { name: 'Chat' }).press('Enter');
    await page.getByRole('textbox', { name: 'Message' }).waitFor();
    expect(problems).toEqual([]);
  });

  it('is closed by itself in a narrow window (bug: no room for the chat)', async ({ page }) => {
    await page.setViewportSize({ width: 900, height: 600 });
    const { panel } = await open(page, usual, 'chat');
    expect([await panel.count(), await callsOf(page)]).toEqual([0, {}]);
  });
});

async function heapOf(page: Page, session: CDPSession): Promise<number> {
  for (let turn = 0; turn < 3; turn += 1) {
    await session.send('HeapProfiler.collectGarbage');
    await page.evaluate(() => new Promise((resolve) => requestIdleCallback(() => resolve(null))));
  }
  return (await session.send('Runtime.getHeapUsage')).usedSize;
}
