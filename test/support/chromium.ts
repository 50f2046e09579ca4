import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { type Browser, type Page, chromium } from 'playwright-core';
import { test } from 'vitest';

export const noChromium = 'no Chromium (apt-get install chromium)';

/** The browser for tests: what CHROME names, else Debian's Chromium or another of its kind on the PATH. */
export function findChromium(): string | undefined {
  const named = process.env['CHROME'];
  if (named) return existsSync(named) ? named : undefined;
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter(Boolean);
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path));
}

/** @returns a browser with a fresh, temporary profile that makes no requests of its own. */
export function launchChromium(executablePath: string): Promise<Browser> {
  const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'];
  return chromium.launch({ executablePath, headless: true, args: ['--no-sandbox', '--disable-gpu', ...quiet] });
}

/**
 * A test with a browser page of its own. `problems` gathers uncaught errors, console errors and blocked content.
 * Where there is no browser, the test is skipped and says so.
 */
export const browserTest = test.extend<{
  readonly browser: Browser | undefined;
  readonly page: Page;
  readonly problems: string[];
}>({
  browser: [
    async ({}, use) => {
      const path = findChromium();
      const browser = path === undefined ? undefined : await launchChromium(path);
      await use(browser);
      await browser?.close();
    },
    { scope: 'file' },
  ],
  problems: async ({}, use) => {
    await use([]);
  },
  page: async ({ browser, problems, skip }, use) => {
    if (browser === undefined) return skip(noChromium);
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-US' });
    // Watchdogs only: on a crowded machine a page may take its time.
    context.setDefaultTimeout(60_000);
    const page = await context.newPage();
    page.on('pageerror', (error) => problems.push(`uncaught: ${error.message}`));
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(`console: ${message.text()}`);
    });
    await use(page);
    await context.close();
  },
});
