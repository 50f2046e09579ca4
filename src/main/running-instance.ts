import { resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import {
  defaultFlagValues,
  flagNames,
  linkPath,
  ownerHeader,
  type FlagName,
  type FlagValues,
  type SecondStart,
} from './contract/index.ts';
import { DataFolderLock, type DataFolderOwner } from './store/index.ts';

/** Longest time an instance that has just begun may take to listen, in ms, and how often to look. */
const startLimit = 10_000;
const lookEvery = 100;
/** Longest time the running instance may take to answer, in ms. */
const answerLimit = 5000;

/** Flags that mean something to a second start; the others belong to the one that runs. */
const usedBySecond: readonly FlagName[] = ['serve', 'open', 'data-dir', 'model', 'hidden', 'software-rendering'];

export type RunningAnswer = {
  /** A fresh one-time link to its page. */
  readonly link: string;
  /** Whether it has brought a window to the front. */
  readonly shown: boolean;
};

/**
 * Asks the Dormouse that has the data folder to show itself, and to load a model.
 * @returns null when it does not answer.
 */
export async function askRunning(owner: DataFolderOwner, wish: SecondStart): Promise<RunningAnswer | null> {
  if (owner.url === null) return null;
  try {
    const reply = await fetch(new URL(linkPath, owner.url), {
      method: 'POST',
      headers: { [ownerHeader]: owner.token, 'content-type': 'application/json' },
      body: JSON.stringify(wish),
      signal: AbortSignal.timeout(answerLimit),
    });
    const body: unknown = await reply.json();
    const data = typeof body === 'object' && body !== null && 'data' in body ? body.data : null;
    if (typeof data !== 'object' || data === null || !('link' in data) || typeof data.link !== 'string') return null;
    return { link: data.link, shown: 'shown' in data && data.shown === true };
  } catch {
    return null;
  }
}

/** A model as another process can find it: the path is not relative to its folder but to ours. */
export function askedModel(model: string, folder: string): string {
  return model === 'builtin' ? model : resolve(folder, model);
}

/** Flags that were given and do nothing, since another process already runs. */
export function unusedFlags(flags: FlagValues): readonly FlagName[] {
  return flagNames.filter((name) => !usedBySecond.includes(name) && flags[name] !== defaultFlagValues[name]);
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
