import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { writeAtomically, systemCode } from './atomic-file.ts';
import { processStartTime } from './process-start-time.ts';

const ownerSchema = z.object({
  pid: z.number().int().positive(),
  /** As `processStartTime` gives it: a process number is used again, a number with its start is not. */
  startTime: z.string().nullable(),
  /** Proves to the owner that who asks may read this folder. */
  token: z.string(),
  /** Address of the owner's server; null until it listens. */
  url: z.string().nullable(),
});

/** The process that has a data folder, as its lock file tells. */
export type DataFolderOwner = z.infer<typeof ownerSchema>;

export type Locked =
  { readonly ok: true; readonly lock: DataFolderLock } | { readonly ok: false; readonly owner: DataFolderOwner };

/** Most tries to break a stale lock while others do the same, and the pause between two of them, in ms. */
const tries = 200;
const pause = 10;
/** A second lock that says nothing and is this old, in ms, was left by a crash. */
const abandonedAfter = 10_000;

/**
 * The right to write in a data folder, held by one process at a time. The file names its holder; a holder that
 * no longer runs loses it; who takes it away holds a second lock meanwhile, so that two cannot both win.
 */
export class DataFolderLock {
  readonly #path: string;
  #owner: DataFolderOwner;

  private constructor(path: string, owner: DataFolderOwner) {
    this.#path = path;
    this.#owner = owner;
  }

  /** Makes the folder if needed. Rejects with the system's error when it cannot be written. */
  static async acquire(folder: string, isRunning: typeof ownerIsRunning = ownerIsRunning): Promise<Locked> {
    await mkdir(folder, { recursive: true });
    const path = join(folder, 'dormouse.lock');
    const owner = {
      pid: process.pid,
      startTime: await processStartTime(process.pid),
      token: randomBytes(24).toString('base64url'),
      url: null,
    };
    const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
    try {
      await writeFile(draft, JSON.stringify(owner), { mode: 0o600, flag: 'wx' });
      for (let attempt = 0; attempt < tries; attempt++) {
        if (await createFrom(draft, path, owner)) return { ok: true, lock: new DataFolderLock(path, owner) };
        const held = await readOwner(path);
        if (held !== null && (await isRunning(held))) return { ok: false, owner: held };
        await breakStale(path, held, draft, owner, isRunning);
      }
      throw new Error(`The lock ${path} cannot be taken: it changes all the time.`);
    } finally {
      await rm(draft, { force: true });
    }
  }

  /** Who has a folder at this moment; null when nobody, or nobody that can be read. */
  static ownerOf(folder: string): Promise<DataFolderOwner | null> {
    return readOwner(join(folder, 'dormouse.lock'));
  }

  /** Whether the folder still says that this process has it. It does not when the folder was deleted meanwhile. */
  async isHeld(): Promise<boolean> {
    return (await readOwner(this.#path))?.token === this.#owner.token;
  }

  get token(): string {
    return this.#owner.token;
  }

  /** Tells other processes where this one can be reached; null: nowhere. */
  async publish(url: string | null): Promise<void> {
    this.#owner = { ...this.#owner, url };
    await writeAtomically(this.#path, JSON.stringify(this.#owner));
  }

  /** Gives the folder back, unless somebody else has taken it meanwhile. */
  async release(): Promise<void> {
    if (await this.isHeld()) await rm(this.#path, { force: true });
  }
}

/** Makes the lock with its whole content in one step: by a hard link, or exclusively where there are none. */
async function createFrom(draft: string, path: string, owner: DataFolderOwner): Promise<boolean> {
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
  }
  try {
    await writeFile(path, JSON.stringify(owner), { mode: 0o600, flag: 'wx' });
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Takes a stale lock away. Only who holds the second lock may do that, and looks again first: between the first look
 * and now another process may have taken the stale lock away and put its own there.
 */
async function breakStale(
  path: string,
  stale: DataFolderOwner | null,
  draft: string,
  owner: DataFolderOwner,
  isRunning: typeof ownerIsRunning,
): Promise<void> {
  const breaking = `${path}.breaking`;
  if (!(await createFrom(draft, breaking, owner))) {
    const held = await readOwner(breaking);
    const abandoned = held === null ? await isOld(breaking) : !(await isRunning(held));
    if (abandoned) await rm(breaking, { force: true });
    return void (await wait(pause));
  }
  try {
    const now = await readOwner(path);
    if (now?.token === stale?.token) await rm(path, { force: true });
  } finally {
    await rm(breaking, { force: true });
  }
}

async function isOld(path: string): Promise<boolean> {
  const facts = await stat(path).catch(() => null);
  return facts !== null && Date.now() - facts.mtimeMs > abandonedAfter;
}

/** @returns null for a file that is gone or says nothing: a crash while it was written. */
async function readOwner(path: string): Promise<DataFolderOwner | null> {
  try {
    const parsed = ownerSchema.safeParse(JSON.parse(await readFile(path, 'utf8')));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

/** Whether the process that wrote a lock still runs. When in doubt it does. */
export async function ownerIsRunning(owner: DataFolderOwner): Promise<boolean> {
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    if (systemCode(error) === 'ESRCH') return false;
  }
  const startTime = await processStartTime(owner.pid);
  return startTime === null || owner.startTime === null || startTime === owner.startTime;
}
