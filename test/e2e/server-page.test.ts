import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { Page } from 'playwright-core';
import { snippet } from '../../src/renderer/features/server/snippets.ts';
import { accessFaults } from '../support/access-faults.ts';
import { AppProcess } from '../support/app-process.ts';
import { browserTest as it } from '../support/chromium.ts';
import { chatOf, containsText, openChat, someWords } from '../support/page.ts';
import { json, ScriptedRemote } from '../support/scripted-remote.ts';
import { waitFor } from '../support/wait-for.ts';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');

let app: AppProcess;
/** Another real Dormouse, as the engine elsewhere. */
let box: AppProcess;
beforeAll(async () => {
  box = await AppProcess.start();
  app = await AppProcess.start();
});
afterAll(async () => {
  await app.stop();
  await box.stop();
});

async function openServer(page: Page): Promise<void> {
  await openChat(page, await app.newLink());
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('button', { name: 'Server' }).click();
  await page.getByRole('heading', { name: 'Use it from your tools' }).waitFor();
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
const ask = (model: string, more: object = {}) =>
  fetch(`${app.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      model,
      messages: [{ role: 'user', content: 'Why do the workers sleep?' }],
      max_tokens: 16,
      ...more,
    }),
  });

describe('the Server page', () => {
  it('shows what programs ask, live, and never their text; the log can be cleared', async ({ page, problems }) => {
    await openServer(page);
    const { stdout } = await run(
      'node',
      ['--input-type=module', '-e', snippet('javascript', { url: app.origin, model: 'builtin', needsKey: false }).text],
      { cwd: root },
    );
    expect(stdout).toMatch(someWords);
    await containsText(page.getByRole('row'), /POST \/v1\/chat\/completions.*builtin|POST \/v1\/chat\/completions/);
    await containsText(page.getByRole('row'), /this computer.*200 OK/);
    await ask('nobody');
    await containsText(page.getByRole('row'), '404 refused');
    expect(await page.getByRole('region', { name: 'Server settings and requests' }).textContent()).not.toContain(
      'dormouse sleeps',
    );
    expect(await accessFaults(page)).toEqual([]);
    await button(page, 'Clear').click();
    await page.getByText('No program has asked yet').waitFor();
    expect(problems).toEqual([]);
  });

  it('switched off, programs hear 503 and why, and the page stays; on again by keyboard', async ({ page }) => {
    await openServer(page);
    await button(page, 'Switch off').click();
    await button(page, 'Switch on').waitFor();
    const refused = await ask('builtin');
    expect([refused.status, ((await refused.json()) as { error: { code: string } }).error.code]).toEqual([
      503,
      'server_off',
    ]);
    expect(await (await fetch(`${app.origin}/health`)).json()).toMatchObject({ status: 'off', service: 'dormouse' });
    await page.reload();
    await button(page, 'Switch on').focus();
    await page.keyboard.press('Enter');
    await button(page, 'Switch off').waitFor();
    expect((await fetch(`${app.origin}/health`)).status).toBe(200);
  });

  it('a key made here is needed at once, is hidden until asked for, and is in no source, setting or log', async ({
    page,
  }) => {
    await openServer(page);
    await button(page, 'Generate a key').click();
    await button(page, 'Hide').waitFor();
    const key = (await page.locator('.server-key code').textContent()) ?? '';
    expect(key).toMatch(/^dm-/);
    expect((await ask('builtin')).status).toBe(401);
    const withKey = await fetch(`${app.origin}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    expect(withKey.status).toBe(200);
    await button(page, 'Hide').click();
    await page.reload();
    await button(page, 'Show').waitFor();
    expect(await page.content()).not.toContain(key);
    const files = await run('grep', ['-rl', '--', key, app.dataFolder]);
    expect(files.stdout.trim()).toMatch(/keys\.json$/);
    await button(page, 'Remove').click();
    await button(page, 'Generate a key').waitFor();
    expect((await fetch(`${app.origin}/v1/models`)).status).toBe(200);
  });

  it('a port that is taken or none is told in place, and the old one stays; a free one takes the page along', async ({
    page,
  }) => {
    await openServer(page);
    const port = field(page, 'Port');
    await port.fill('70000');
    await page.getByText('A whole number from 0 to 65535').waitFor();
    expect(await button(page, 'Apply').isDisabled()).toBe(true);
    await field(page, 'Address').fill('0.0.0.0');
    await page.getByText('it needs an API key first').waitFor();
    await field(page, 'Address').fill('127.0.0.1');
    await port.fill(new URL(box.origin).port);
    await button(page, 'Apply').click();
    await page.getByText(/Another Dormouse \(version/).waitFor();
    expect((await fetch(`${app.origin}/health`)).status).toBe(200);
    const before = new URL(app.origin).port;
    await field(page, 'Port').fill('0');
    await button(page, 'Apply').click();
    await page.waitForURL((url) => url.port !== before);
    await chatOf(page).message.waitFor();
    await expect(fetch(`${app.origin}/health`)).rejects.toThrow();
    const { hostname } = new URL(page.url());
    expect(hostname).toBe('127.0.0.1');
    // Back, by the page that has come along.
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('button', { name: 'Server' }).click();
    await field(page, 'Port').fill(before);
    await button(page, 'Apply').click();
    await page.waitForURL((url) => url.port === before);
    expect((await fetch(`${app.origin}/health`)).status).toBe(200);
  });
});

describe('a remote engine', () => {
  it('another Dormouse answers a chat and a request, while the engine here does nothing', async ({
    page,
    problems,
  }) => {
    await openServer(page);
    await button(page, 'Add a remote engine').click();
    await field(page, 'Name').fill('box');
    await field(page, 'Base URL').fill('http://127.0.0.1:9');
    await button(page, 'Test and add').click();
    await page.getByText('Nothing listens at http://127.0.0.1:9').waitFor();
    await field(page, 'Base URL').fill(box.origin);
    await button(page, 'Test and add').click();
    await page.getByText('Programs ask for it as box/').waitFor();
    await button(page, 'Test box').click();
    await page.getByText('It answers:').waitFor();
    expect(await accessFaults(page)).toEqual([]);
    const listed = (await (await fetch(`${app.origin}/v1/models`)).json()) as { data: { id: string }[] };
    const model = listed.data.map(({ id }) => id).find((id) => id.startsWith('box/')) ?? '';
    const here = await idleFacts();
    const reply = (await (await ask(model)).json()) as { choices: { message: { content: string } }[]; usage: object };
    expect(reply.choices[0]?.message.content).toMatch(/\w/);
    expect(reply.usage).toMatchObject({ completion_tokens: expect.any(Number) as number });
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('button', { name: 'Chat' }).click();
    await button(page, 'New chat').click();
    await button(page, 'Chat settings').click();
    await page.getByRole('combobox', { name: 'Model' }).selectOption({ label: `${model} (remote)` });
    await button(page, 'Done').click();
    const chat = chatOf(page);
    await chat.message.fill('Why do the workers sleep?');
    await chat.message.press('Enter');
    await containsText(chat.answers, someWords);
    await chat.regenerate.waitFor();
    await containsText(page.locator('.chip'), model);
    expect(await idleFacts()).toEqual(here);
    expect(problems.filter((problem) => !problem.includes('503'))).toEqual([]);
  });

  it('its refusals reach programs with their class, and a stop reaches it', async ({ page }) => {
    const scripted = await ScriptedRemote.start();
    await openServer(page);
    await button(page, 'Add a remote engine').click();
    await field(page, 'Name').fill('odd');
    await field(page, 'Base URL').fill(scripted.url);
    await button(page, 'Test and add').click();
    await page.getByText('Programs ask for it as odd/big').waitFor();
    const statuses: (string | number | null)[][] = [];
    for (const [status, headers] of [
      [400, {}],
      [401, {}],
      [404, {}],
      [429, { 'retry-after': '7' }],
      [500, {}],
    ] as const) {
      scripted.answer = (reply) => json(reply, { error: { message: 'because' } }, status, headers);
      const reply = await ask('odd/big');
      expect(((await reply.json()) as { error: { message: string } }).error.message).toContain('because');
      statuses.push([reply.status, reply.headers.get('retry-after')]);
    }
    expect(statuses).toEqual([
      [400, null],
      [403, null],
      [404, null],
      [429, '7'],
      [502, null],
    ]);
    scripted.answer = (reply) => {
      reply.writeHead(200, { 'content-type': 'text/event-stream' });
      reply.write('data: {"choices":[{"delta":{"content":"Once"}}]}\n\n');
    };
    const leaving = new AbortController();
    const asked = scripted.asked.length;
    const left = fetch(`${app.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'odd/big', stream: true, messages: [{ role: 'user', content: 'Hi' }] }),
      signal: leaving.signal,
    });
    expect((await left).status).toBe(200);
    leaving.abort();
    await (
      await waitFor('the request', () => scripted.asked[asked])
    ).gone;
    await button(page, 'Remove odd').click();
    await waitFor('it to be gone', async () => (await page.getByText('Programs ask for it as odd/big').count()) === 0);
    expect((await ask('odd/big')).status).toBe(404);
  });
});

/** What would differ if the engine here had answered. */
async function idleFacts() {
  const status = (await (await fetch(`${app.origin}/v1/status`)).json()) as {
    lastTimings: unknown;
    engine: { since: number };
  };
  return { lastTimings: status.lastTimings, since: status.engine.since };
}
