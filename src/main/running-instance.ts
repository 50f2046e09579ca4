import { linkPath, ownerHeader } from './contract/index.ts';
import type { DataFolderOwner } from './store/index.ts';

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
