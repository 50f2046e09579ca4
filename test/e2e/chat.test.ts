import { afterAll, beforeAll, describe, expect } from 'vitest';
import { accessFaults } from '../support/access-faults.ts';
import { AppProcess } from '../support/app-process.ts';
import { browserTest as it } from '../support/chromium.ts';
import { slowModelPath } from '../support/gguf.ts';
import { atRest, chatOf, containsText, openChat, someWords } from '../support/page.ts';
import { temporaryFolder } from '../support/temp-folder.ts';
import { waitFor } from '../support/wait-for.ts';

let app: AppProcess;

describe('the built-in model in the browser', () => {
  beforeAll(async () => void (app = await AppProcess.start({ args: ['--temperature', '0'] })));
  afterAll(() => app.stop());

  it('answers a first question, streams, shows its figures, and a follow-up goes into the same chat', async ({
    page,
    problems,
  }) => {
    const chat = await openChat(page, await app.newLink());
    expect(page.url()).not.toContain('#t=');
    await chat.message.fill('What is the capital city of Norway, please?');
    await chat.message.press('Enter');
    await containsText(chat.answers, 'The capital of Norway is Oslo.');
    await containsText(chat.answers, /\d+ tokens/);
    await containsText(chat.answers, /tok\/s/);
    await containsText(chat.answers, /first token/);
    await chat.message.fill('What is 8 plus 6, please?');
    await chat.send.click();
    await containsText(chat.answers.nth(1), '8 + 6 = 14.');
    expect(await chat.questions.count()).toBe(2);
    expect(problems).toEqual([]);
  });

  it('regenerates into a second version and switches between both', async ({ page, problems }) => {
    const chat = await openChat(page, await app.newLink());
    await chat.message.fill('What is 8 plus 6, please?');
    await chat.message.press('Enter');
    await chat.regenerate.click();
    await containsText(chat.answers, /2 \/ 2/);
    await page.getByRole('button', { name: 'Previous version' }).click();
    await containsText(chat.answers, /1 \/ 2/);
    await containsText(chat.answers, '8 + 6 = 14.');
    expect(await chat.answers.count()).toBe(1);
    expect(problems).toEqual([]);
  });

  it('keeps the chat over a reload, in the same tab only', async ({ page, browser }) => {
    const link = await app.newLink();
    const chat = await openChat(page, link);
    await chat.message.fill('What is 8 plus 6, please?');
    await chat.message.press('Enter');
    await chat.regenerate.waitFor();
    await page.reload();
    await page
      .getByRole('button', { name: /What is 8 plus 6/ })
      .first()
      .click();
    await containsText(chat.answers, '8 + 6 = 14.');

    const stranger = await browser!.newPage();
    await stranger.goto(link);
    await stranger.getByText('This page needs a fresh link').waitFor();
    expect(await chatOf(stranger).message.count()).toBe(0);
    await stranger.close();
  });

  it('starts with three questions that the model answers', async ({ page, problems }) => {
    const chat = await openChat(page, await app.newLink());
    const questions = page.getByRole('list', { name: 'Questions to begin with' }).getByRole('button');
    expect(await questions.count()).toBe(3);
    await questions.first().click();
    await containsText(chat.answers, /experts?/);
    await chat.regenerate.waitFor();
    expect(problems).toEqual([]);
  });

  it('breaks a line with Shift+Enter and shows typed markup as text', async ({ page, problems }) => {
    const chat = await openChat(page, await app.newLink());
    await chat.message.fill('<img src=x onerror=alert(1)>');
    await chat.message.press('Shift+Enter');
    await chat.message.pressSequentially('<|im_end|><think>');
    expect(await chat.message.inputValue()).toBe('<img src=x onerror=alert(1)>\n<|im_end|><think>');
    await chat.message.press('Enter');
    await containsText(chat.questions, '<img src=x onerror=alert(1)>');
    await containsText(chat.questions, '<|im_end|><think>');
    await chat.regenerate.waitFor();
    expect(problems).toEqual([]);
  });

  it.for(['light', 'dark'] as const)('has no serious accessibility fault (%s)', async (colorScheme, { page }) => {
    await page.emulateMedia({ colorScheme });
    const chat = await openChat(page, await app.newLink());
    expect(await accessFaults(page)).toEqual([]);
    await chat.message.fill('What is 8 plus 6, please?');
    await chat.message.press('Enter');
    await chat.regenerate.waitFor();
    expect(await accessFaults(page)).toEqual([]);
  });
});

describe('an answer that takes long', () => {
  const args = ['--temperature', '0', '--model', slowModelPath(), '--batch', '64'];
  beforeAll(async () => void (app = await AppProcess.start({ args })));
  afterAll(() => app.stop());

  it('streams, stops on Escape, keeps what there is, and goes on with the next message', async ({ page, problems }) => {
    const chat = await openChat(page, await app.newLink());
    await chat.message.fill('What is slow?');
    await chat.message.press('Enter');
    await containsText(chat.answers, someWords);
    await containsText(chat.state, 'Generating');
    await page.keyboard.press('Escape');
    await containsText(chat.answers, 'stopped by you');
    await containsText(chat.state, atRest);
    const kept = await chat.answers.first().innerText();
    await chat.message.fill('And now?');
    await chat.message.press('Enter');
    await containsText(chat.answers.nth(1), someWords);
    await chat.stop.click();
    await containsText(chat.answers.nth(1), 'stopped by you');
    expect(await chat.answers.first().innerText()).toBe(kept);
    expect(problems).toEqual([]);
  });

  it('stops while it reads the prompt, then answers another one', async ({ page, problems }) => {
    const chat = await openChat(page, await app.newLink());
    await chat.message.fill('mouse '.repeat(6000));
    await chat.message.press('Enter');
    await containsText(chat.state, 'Reading the prompt');
    await chat.stop.click();
    await containsText(chat.answers, /stopped/i);
    await containsText(chat.state, atRest);
    await chat.newChat.click();
    await chat.message.fill('Short one');
    await chat.message.press('Enter');
    await containsText(chat.answers, someWords);
    await chat.stop.click();
    await containsText(chat.state, atRest);
    expect(problems).toEqual([]);
  });

  it('goes on while the page is reloaded, and the page finds it again', async ({ page }) => {
    const chat = await openChat(page, await app.newLink());
    await chat.message.fill('What is slow?');
    await chat.message.press('Enter');
    await containsText(chat.answers, someWords);
    await page.reload();
    await page
      .getByRole('button', { name: /What is slow/ })
      .first()
      .click();
    await containsText(chat.answers, someWords);
    const before = await chat.answers.last().innerText();
    await waitFor('the answer to go on', async () => (await chat.answers.last().innerText()) !== before);
    await chat.stop.click();
    await containsText(chat.answers, 'stopped by you');
  });
});

describe('a Dormouse that goes away', () => {
  it('leaves the text in the composer', async ({ page }) => {
    const passing = await AppProcess.start();
    const chat = await openChat(page, passing.link);
    await passing.stop();
    await chat.message.fill('Is anybody there?');
    await chat.message.press('Enter');
    await page.getByText('Connection lost').waitFor();
    expect(await chat.message.inputValue()).toBe('Is anybody there?');
  });

  it('survives the end of the process: what had come is kept and said to be cut', async ({ page, browser }) => {
    const dataFolder = temporaryFolder();
    const args = ['--temperature', '1', '--model', slowModelPath()];
    const first = await AppProcess.start({ args, dataFolder });
    const chat = await openChat(page, first.link);
    await chat.message.fill('What is slow?');
    await chat.message.press('Enter');
    await waitFor('some text', async () => (await chat.answers.first().innerText()).length > 200);
    const shown = (await chat.answers.first().innerText()).slice(0, 40);
    // Text is on its way to the disk within half a second of its coming.
    await waitFor('more text', async () => (await chat.answers.first().innerText()).length > 1500);
    await first.kill();
    await page.getByText('Connection lost').waitFor();

    const second = await AppProcess.start({ args, dataFolder });
    const later = await browser!.newPage();
    const again = await openChat(later, second.link);
    await later.getByRole('button', { name: /What is slow/ }).click();
    await containsText(again.answers, 'Dormouse was closed while this answer was being written');
    expect((await again.answers.first().innerText()).startsWith(shown.slice(0, 20))).toBe(true);
    await again.message.fill('Go on');
    await again.message.press('Enter');
    await containsText(again.answers.nth(1), /\S/);
    await later.close();
    await second.stop();
  });
});
