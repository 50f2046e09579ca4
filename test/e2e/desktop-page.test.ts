import { resolve } from 'node:path';
import { expect, describe } from 'vitest';
import type { Page } from 'playwright-core';
import { browserTest as it } from '../support/chromium.ts';
import { DesktopBench, type DesktopBenchOptions } from '../support/desktop-bench.ts';
import { chatOf, containsText } from '../support/page.ts';
import { waitFor } from '../support/wait-for.ts';

const root = resolve(import.meta.dirname, '../..');
/** Playwright cannot carry app://; an https origin has the same rights and takes the same headers. */
const origin = 'https://dormouse.test';

/**
 * The built page in Chromium, served by our own app:// handler with its headers, with `window.dormouse` joined to the
 * real shell and router over the fake Electron.
 */
async function openDesktop(page: Page, options: DesktopBenchOptions = {}): Promise<DesktopBench> {
  const bench = await DesktopBench.open({ appFolder: root, ...options });
  const serve = bench.electron.protocols.get('app');
  if (serve === undefined) throw new Error('no app:// handler');
  await page.route(`${origin}/**`, async (route) => {
    const url = route.request().url().replace(origin, 'app://dormouse');
    const response = await serve(new Request(url));
    await route.fulfill({
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: Buffer.from(await response.arrayBuffer()),
    });
  });
  await page.exposeFunction('dormouseRequest', (name: string, input: unknown) =>
    bench.electron.invoke('dormouse:request', [name, input]),
  );
  await page.addInitScript(() => {
    const listeners = new Set<(event: unknown) => void>();
    const { dormouseRequest } = window as unknown as { dormouseRequest: (name: string, input: unknown) => unknown };
    Object.assign(window, {
      dormouseEvent: (event: unknown) => listeners.forEach((listener) => listener(event)),
      dormouse: {
        request: dormouseRequest,
        on: (listener: (event: unknown) => void) => {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
      },
    });
  });
  bench.electron.window.webContents.onSend = (_channel, [event]) => {
    const call = (given: unknown) =>
      (window as unknown as { dormouseEvent?: (event: unknown) => void }).dormouseEvent?.(given);
    void page.evaluate(call, event).catch(() => undefined);
  };
  await page.goto(`${origin}/`);
  await chatOf(page).message.waitFor();
  bench.electron.window.emit('ready-to-show');
  return bench;
}

async function ask(page: Page, bench: DesktopBench, text: string): Promise<string> {
  const asked = bench.chat.engine.requests.length;
  await chatOf(page).message.fill(text);
  await chatOf(page).message.press('Enter');
  await bench.chat.engine.asked(asked + 1);
  return bench.chat.engine.requests.at(-1)?.id ?? '';
}

describe('the page in the desktop shell', () => {
  it('runs under its content security policy and answers through preload, without HTTP', async ({ page, problems }) => {
    const bench = await openDesktop(page);
    const streamId = await ask(page, bench, 'Hello there');
    bench.chat.engine.part(streamId, { kind: 'text', text: 'Good evening to you.' });
    await bench.endAnswer(streamId);
    await containsText(chatOf(page).answers, 'Good evening to you.');
    expect(problems).toEqual([]);
    const reached = await page.evaluate(() =>
      fetch('/').then(
        () => 'reached',
        () => 'refused',
      ),
    );
    expect(reached).toBe('refused');
    expect(problems.join()).toContain('Content Security Policy');
  });

  it('closed to the tray in the middle of an answer, it comes back with all of it (bug: lost or doubled words)', async ({
    page,
  }) => {
    const bench = await openDesktop(page);
    const streamId = await ask(page, bench, 'A story');
    bench.chat.engine.part(streamId, { kind: 'text', text: 'Once upon ' });
    await containsText(chatOf(page).answers, 'Once upon');
    bench.electron.window.close();
    bench.chat.engine.part(streamId, { kind: 'text', text: 'a time there was ' });
    bench.electron.tray.choose('Show Dormouse');
    bench.chat.engine.part(streamId, { kind: 'text', text: 'a dormouse.' });
    await bench.endAnswer(streamId);
    await containsText(chatOf(page).answers, 'Once upon a time there was a dormouse.');
    expect(await chatOf(page).answers.count()).toBe(1);
  });

  it('loaded again after it broke, it attaches to the running answer (bug: an empty answer after a crash)', async ({
    page,
  }) => {
    const bench = await openDesktop(page);
    const streamId = await ask(page, bench, 'A story');
    bench.chat.engine.part(streamId, { kind: 'text', text: 'Once upon ' });
    await containsText(chatOf(page).answers, 'Once upon');
    bench.electron.window.webContents.emit('render-process-gone', {}, { reason: 'crashed' });
    expect(bench.electron.window.loaded).toHaveLength(2);
    await page.reload();
    await chatOf(page).message.waitFor();
    bench.chat.engine.part(streamId, { kind: 'text', text: 'a time.' });
    await containsText(chatOf(page).answers, 'Once upon a time.');
    await bench.endAnswer(streamId);
    expect(await chatOf(page).answers.count()).toBe(1);
  });

  it('goes to a new chat when tray or menu ask, and shows what main tells', async ({ page }) => {
    const bench = await openDesktop(page);
    const streamId = await ask(page, bench, 'Hello there');
    await bench.endAnswer(streamId);
    await waitFor('the answer', async () => (await chatOf(page).answers.count()) === 1);
    bench.electron.tray.choose('New chat');
    await waitFor('the empty chat', async () => (await chatOf(page).answers.count()) === 0);
    bench.app.notify('The shortcut is taken.');
    await page.getByText('The shortcut is taken.').waitFor();
  });
});

describe('the error page', () => {
  it('says what happened and what to do, under the same policy', async ({ page, problems }) => {
    const bench = await openDesktop(page);
    await page.goto(`${origin}/broken`);
    await page.getByRole('heading', { name: 'The window broke twice' }).waitFor();
    await containsText(page.locator('p'), 'your chats are saved');
    expect(bench.electron.window.destroyed).toBe(false);
    expect(problems).toEqual([]);
  });
});
