import type { Locator, Page } from 'playwright-core';

/** What the engine's state says when there is a model and no work: with and without the pool. */
export const atRest = /Ready|Asleep|Falling asleep/;

/** Text that only a model's answer has: what the page says while it waits is shorter. */
export const someWords = /(\w+ ){6}/;

/** The page's parts by role and name, as a person or a screen reader finds them. */
export function chatOf(page: Page) {
  return {
    message: page.getByRole('textbox', { name: 'Message' }),
    send: page.getByRole('button', { name: 'Send' }),
    stop: page.getByRole('button', { name: 'Stop' }),
    regenerate: page.getByRole('button', { name: 'Regenerate' }),
    copyAnswer: page.getByRole('button', { name: 'Copy answer' }),
    newChat: page.getByRole('button', { name: 'New chat' }),
    answers: page.getByRole('article', { name: 'Answer' }),
    questions: page.getByRole('article', { name: 'You' }),
    state: page.getByRole('status', { name: 'Engine state' }),
  };
}

/** Opens a page by its one-time link and waits until the engine is ready. */
export async function openChat(page: Page, link: string): Promise<ReturnType<typeof chatOf>> {
  await page.goto(link);
  const chat = chatOf(page);
  await chat.message.waitFor();
  await containsText(chat.state, atRest);
  return chat;
}

/** Waits until an element shows a text. */
export async function containsText(locator: Locator, text: string | RegExp, timeout = 60_000): Promise<void> {
  await locator.filter({ hasText: text }).first().waitFor({ timeout });
}
