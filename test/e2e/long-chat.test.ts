import type { CDPSession, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { accessFaults } from '../support/access-faults.ts';
import { AppProcess } from '../support/app-process.ts';
import { browserTest as it } from '../support/chromium.ts';
import { ContractClient } from '../support/contract-client.ts';
import { unwrap } from '../support/engine.ts';
import { injectMain } from '../support/fake-main.ts';
import { slowModelPath } from '../support/gguf.ts';
import { chatOf, containsText, openChat, someWords } from '../support/page.ts';
import { waitFor } from '../support/wait-for.ts';

let app: AppProcess;

/** Parts of the page that only long-lived chats have. */
function shelfOf(page: Page) {
  return {
    chat: (title: string | RegExp) => page.getByRole('button', { name: title }).first(),
    options: (title: string) =>
      page.locator('.sidebar-row').filter({ hasText: title }).getByRole('button', { name: 'Chat options' }),
    menu: (name: string) => page.getByRole('menuitem', { name }),
    search: page.getByRole('searchbox', { name: 'Search chats' }),
    edit: page.getByRole('button', { name: 'Edit message' }),
    editField: page.getByRole('textbox', { name: 'Edited text' }),
    toast: page.getByText('Chat deleted'),
    undo: page.getByRole('button', { name: 'Undo' }),
    settings: page.getByRole('button', { name: 'Chat settings' }),
    systemPrompt: page.getByRole('textbox', { name: 'System prompt' }),
  };
}

async function ask(page: Page, text: string, answer: string | RegExp): Promise<void> {
  const chat = chatOf(page);
  await chat.message.fill(text);
  await chat.message.press('Enter');
  await containsText(chat.answers, answer);
  await chat.regenerate.last().waitFor();
}

describe('chats one keeps', () => {
  beforeAll(async () => void (app = await AppProcess.start({ args: ['--temperature', '0'] })));
  afterAll(() => app.stop());

  it('sends an edited message as a branch and switches between both', async ({ page, problems }) => {
    const chat = await openChat(page, await app.newLink());
    const shelf = shelfOf(page);
    await ask(page, 'What is 8 plus 6, please?', '8 + 6 = 14.');
    await chat.questions.first().hover();
    await shelf.edit.click();
    expect(await shelf.editField.inputValue()).toBe('What is 8 plus 6, please?');
    expect(await accessFaults(page)).toEqual([]);
    await shelf.editField.press('Escape');
    expect(await chat.questions.innerText()).toContain('8 plus 6');
    await shelf.edit.click();
    await shelf.editField.fill('What is the capital city of Norway, please?');
    await shelf.editField.press('Enter');
    await containsText(chat.answers, 'The capital of Norway is Oslo.');
    await containsText(chat.questions, '2 / 2');
    await page.getByRole('button', { name: 'Previous version' }).first().click();
    await containsText(chat.answers, '8 + 6 = 14.');
    await containsText(chat.questions, '1 / 2');
    expect([await chat.questions.count(), await chat.answers.count()]).toEqual([1, 1]);
    expect(problems).toEqual([]);
  });

  it('renames, deletes and brings back a chat, by keyboard too', async ({ page, problems }) => {
    const chat = await openChat(page, await app.newLink());
    const shelf = shelfOf(page);
    await ask(page, 'What is 3 plus 4, please?', /\d/);
    await shelf.chat('What is 3 plus 4').press('F2');
    await page.getByRole('textbox', { name: 'Chat title' }).fill('Sums');
    await page.keyboard.press('Enter');
    await shelf.chat('Sums').waitFor();
    await containsText(page.getByRole('heading', { level: 1 }), 'Sums');
    await shelf.chat('Sums').hover();
    await shelf.options('Sums').click();
    expect(await accessFaults(page)).toEqual([]);
    await shelf.menu('Delete').click();
    await shelf.toast.waitFor();
    expect([await chat.answers.count(), await shelf.options('Sums').count()]).toEqual([0, 0]);
    expect(await accessFaults(page)).toEqual([]);
    await shelf.undo.click();
    await containsText(chat.answers, /\d/);
    await shelf.chat('Sums').press('Delete');
    await shelf.toast.waitFor();
    await page.keyboard.press('Control+z');
    await shelf.chat('Sums').waitFor();
    expect(await shelf.toast.count()).toBe(0);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('sUM');
    await waitFor('the list to be filtered', async () => (await page.locator('.sidebar-item').count()) === 1);
    expect(problems).toEqual([]);
  });

  it('keeps the system prompt of a new chat and the theme over a reload', async ({ page, problems }) => {
    const chat = await openChat(page, await app.newLink());
    const shelf = shelfOf(page);
    await shelf.settings.click();
    await shelf.systemPrompt.fill('You are a patient teacher.');
    expect(await accessFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Done' }).click();
    await ask(page, 'What is 5 plus 2, please?', /\S/);
    await page.getByText('Dark', { exact: true }).click();
    await page.reload();
    await chat.answers.first().waitFor();
    expect(await page.evaluate(() => document.documentElement.dataset['theme'])).toBe('dark');
    expect(await page.getByRole('radio', { name: 'Dark' }).isChecked()).toBe(true);
    expect(await accessFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'System prompt', exact: true }).click();
    expect(await shelf.systemPrompt.inputValue()).toBe('You are a patient teacher.');
    const client = await ContractClient.connect(app);
    expect(unwrap(await client.request('settings.get', {})).theme).toBe('dark');
    await client.request('settings.set', { theme: 'system' });
    expect(problems).toEqual([]);
  });
});

describe('an answer that goes on by itself', () => {
  // It writes until the test stops it, so that it is met in the middle on a slow machine and on a quick one.
  const args = ['--temperature', '0', '--model', slowModelPath(), '--pool', 'off'];
  beforeAll(async () => void (app = await AppProcess.start({ args })));
  afterAll(() => app.stop());

  // Markdown hides signs of its own; letters and digits are all there, in order.
  const letters = (text: string) => text.replace(/[^\p{L}\p{N}]/gu, '');
  // A long answer is several rows, which are all there only in a window that is high enough for them.
  const shownText = async (page: Page) => letters((await page.locator('.answer .markdown').allInnerTexts()).join(''));

  async function wholeText(page: Page): Promise<string> {
    await page.setViewportSize({ width: 1280, height: 6000 });
    await page.getByRole('article', { name: 'You' }).waitFor();
    let before = '';
    // Rows that have come into view are drawn within some frames.
    return waitFor('the text to stand still', async () => {
      const now = await shownText(page);
      const same = now === before && now;
      before = now;
      return same;
    });
  }

  async function lastAnswer(client: ContractClient): Promise<string> {
    const { conversations } = unwrap(await client.request('conversation.list', {}));
    const { messages } = unwrap(await client.request('conversation.get', { conversationId: conversations[0]!.id }));
    return messages.at(-1)!.text;
  }

  it('is the same in two tabs, to the last character', async ({ page, browser, problems }) => {
    const chat = await openChat(page, await app.newLink());
    const other = await browser!.newPage();
    await openChat(other, await app.newLink());
    await chat.message.fill('Tell both of you something');
    await chat.message.press('Enter');
    await shelfOf(other)
      .chat(/Tell both of you/)
      .click();
    await containsText(chatOf(other).answers, someWords);
    const seenEarly = await shownText(other);
    expect(await chatOf(other).stop.count()).toBe(1);
    await chat.stop.click();
    for (const one of [page, other]) await chatOf(one).regenerate.waitFor();
    const answer = letters(await lastAnswer(await ContractClient.connect(app)));
    expect(answer.length).toBeGreaterThan(50);
    expect([await wholeText(page), await wholeText(other)]).toEqual([answer, answer]);
    expect(answer.startsWith(seenEarly)).toBe(true);
    await other.close();
    expect(problems).toEqual([]);
  });

  it('arrives whole although its page was closed in the middle', async ({ page, browser }) => {
    // The page that comes later is opened before, so that the answer cannot end while it boots.
    await openChat(page, await app.newLink());
    const first = await browser!.newPage();
    const chat = await openChat(first, await app.newLink());
    await chat.message.fill('Go on without me');
    await chat.message.press('Enter');
    await containsText(chat.answers, someWords);
    await first.close();
    await shelfOf(page)
      .chat(/Go on without me/)
      .click();
    await containsText(chatOf(page).answers, someWords);
    const seenMidway = await shownText(page);
    // Else it would have ended before anybody attached to it.
    expect(await chatOf(page).stop.count()).toBe(1);
    await chatOf(page).stop.click();
    await chatOf(page).regenerate.waitFor();
    const answer = letters(await lastAnswer(await ContractClient.connect(app)));
    expect(await wholeText(page)).toBe(answer);
    expect([seenMidway.length > 0, answer.startsWith(seenMidway)]).toEqual([true, true]);
  });
});

describe('size', () => {
  beforeAll(async () => void (app = await AppProcess.start()));
  afterAll(() => app.stop());

  /** The built page over a main that only plays its part, so that chats of any size are there at once. */
  async function openFake(page: Page, texts: readonly string[]): Promise<void> {
    await page.addInitScript(injectMain, texts);
    await page.goto(app.origin);
    await chatOf(page).message.waitFor();
  }

  async function send(page: Page, words: readonly string[], wordsPerEvent: number): Promise<void> {
    await page.evaluate(([all, each]) => Object.assign(window.fakeMain, { words: all, wordsPerEvent: each }), [
      words,
      wordsPerEvent,
    ] as const);
    const before = await page.evaluate(() => window.fakeMain.finished);
    await chatOf(page).message.fill('go');
    await chatOf(page).message.press('Enter');
    await page.waitForFunction((count) => window.fakeMain.finished > count, before, { timeout: 180_000 });
  }

  const nextWords = (count: number) =>
    Array.from({ length: count }, (_, at) => {
      if (at % 400 === 399) return '\n\n```js\nconst a = 1;\n```\n\n';
      return at % 40 === 39 ? 'end.\n\n' : `word${at % 97} `;
    });

  it('draws only the row that is being written (bug: 2,000 messages are drawn for every word)', async ({
    page,
    problems,
  }) => {
    const texts = Array.from({ length: 2000 }, (_, at) =>
      at % 2 === 0 ? `Question ${at}` : `Answer **${at}**.\n\nMore.\n`,
    );
    await openFake(page, texts);
    await shelfOf(page).chat('Long one').click();
    await chatOf(page).answers.first().waitFor();
    await page.evaluate(() =>
      Object.assign(window.fakeMain, { words: Array.from({ length: 200 }, () => 'word '), wordsPerEvent: 1 }),
    );
    await chatOf(page).message.fill('go');
    await chatOf(page).message.press('Enter');
    await containsText(chatOf(page).answers, /word word word/);
    await page.evaluate(() => (window.fakeMain.renders = {}));
    await waitFor('more words', async () => (await chatOf(page).answers.last().innerText()).length > 400);
    const { renders, finished } = await page.evaluate(() => window.fakeMain);
    // The virtual list itself (outside of rows) measures the row that grows.
    const { outside: _list, ...rows } = renders;
    expect([finished, Object.keys(rows)]).toEqual([0, ['2001']]);
    expect(rows['2001']).toBeGreaterThan(10);
    expect(problems).toEqual([]);
  });

  it('opens a message of a megabyte without freezing (bug: seconds of parsing)', async ({ page, annotate }) => {
    const part =
      'A paragraph with **bold** text and `code`.\n\n- item\n- other\n\n```js\nconst value = compute(1);\n```\n\n';
    await openFake(page, ['Write a lot', part.repeat(11_000)]);
    await shelfOf(page).chat('Long one').click();
    await page.getByRole('button', { name: 'Regenerate' }).waitFor();
    await page.locator('.message-scroller').evaluate((scroller) => (scroller.scrollTop = scroller.scrollHeight / 2));
    await page.locator('.answer .markdown').first().waitFor();
    const longest = Math.max(0, ...(await page.evaluate(() => window.fakeMain.longTasks)));
    await annotate(`longest task ${Math.round(longest)} ms`);
    // What would freeze the page is drawing all of it: 11,000 paragraphs.
    expect(await page.locator('*').count()).toBeLessThan(3000);
  });

  it('gives the memory of 20,000 words back (bug: the buffers of ended answers stay)', async ({ page, annotate }) => {
    await openFake(page, []);
    const session = await page.context().newCDPSession(page);
    // Compiled code and caches of the libraries are no leak: they come with the first answers and stay.
    await send(page, nextWords(8000), 20);
    await leave(page);
    const start = await heapOf(page, session);
    await send(page, nextWords(20_000), 20);
    await leave(page);
    let end = 0;
    // The page lets go of some things a moment later (observers, idle work): what counts is that it comes back.
    await waitFor('the heap to return to within 20 % of its start', async () => {
      end = await heapOf(page, session);
      return end / start < 1.2;
    });
    await annotate(`${(start / 1e6).toFixed(1)} MB before, ${(end / 1e6).toFixed(1)} MB after`);
  });

  async function leave(page: Page): Promise<void> {
    await chatOf(page).newChat.click();
    await page.evaluate(() => (window.fakeMain.words = []));
    await page.getByText('Good to see you.').waitFor();
  }

  async function heapOf(page: Page, session: CDPSession): Promise<number> {
    for (let turn = 0; turn < 3; turn += 1) {
      await session.send('HeapProfiler.collectGarbage');
      await page.evaluate(() => new Promise((resolve) => requestIdleCallback(() => resolve(null))));
    }
    return (await session.send('Runtime.getHeapUsage')).usedSize;
  }
});
