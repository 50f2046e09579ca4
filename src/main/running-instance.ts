import { linkPath, ownerHeader } from './contract/index.ts';
import { setTimeout as wait } from 'node:timers/promises';
import { DataFolderLock, type DataFolderOwner } from './store/index.ts';

/** Longest time an instance that has just begun may take to listen, in ms, and how often to look. */
const startLimit = 10_000;
const lookEvery = 100;
/** Longest time the running instance may take to answer, in ms. */
const answerLimit = 5000;

/**
 * Asks the Dormouse that has the data folder for a fresh link to its page.
 * @returns null when it does not answer.
 */
export async function linkToRunning(owner: DataFolderOwner): Promise<string | null> {
  if (owner.url === null) return null;
  try {
    const reply = await fetch(new URL(linkPath, owner.url), {
      method: 'POST',
      headers: { [ownerHeader]: owner.token, 'content-type': 'application/json' },
      body: '{}',
      signal: AbortSignal.timeout(answerLimit),
    });
    const body: unknown = await reply.json();
    const data = typeof body === 'object' && body !== null && 'data' in body ? body.data : null;
    return typeof data === 'object' && data !== null && 'link' in data && typeof data.link === 'string'
      ? data.link
      : null;
  } catch {
    return null;
  }
}

/** Waits until an instance that is still starting tells its address. @returns the owner as last seen. */
export async function listeningOwner(dataFolder: string, owner: DataFolderOwner): Promise<DataFolderOwner> {
  let seen = owner;
  for (let waited = 0; seen.url === null && waited < startLimit; waited += lookEvery) {
    await wait(lookEvery);
    seen = (await DataFolderLock.ownerOf(dataFolder)) ?? seen;
  }
  return seen;
}
