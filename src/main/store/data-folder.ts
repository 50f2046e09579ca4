import { fail, ok, type Result } from '../contract/index.ts';
import { DataFolderLock, type DataFolderOwner } from './data-folder-lock.ts';
import { storageError } from './storage-error.ts';

type Opened =
  { readonly ok: true; readonly folder: DataFolder } | { readonly ok: false; readonly owner: DataFolderOwner };

/**
 * This process's right to a data folder over its whole life. A folder that cannot be written at the start is tried again
 * before each write, and one that was deleted and made anew is locked anew: nothing is ever written without the lock.
 */
export class DataFolder {
  readonly path: string;
  #lock: DataFolderLock | null = null;
  #url: string | null = null;

  private constructor(path: string) {
    this.path = path;
  }

  /**
   * @param onNotice hears why the folder cannot be locked now; the app then runs without keeping anything.
   * @returns the owner when another process has the folder.
   */
  static async open(path: string, onNotice: (text: string) => void): Promise<Opened> {
    const folder = new DataFolder(path);
    try {
      const locked = await DataFolderLock.acquire(path);
      if (!locked.ok) return locked;
      folder.#lock = locked.lock;
    } catch (error) {
      onNotice(`Nothing can be kept in ${path} for now. ${storageError(error, path).error.message}`);
    }
    return { ok: true, folder };
  }

  /** What another process of the same user shows to be believed; null while the folder is not locked. */
  get token(): string | null {
    return this.#lock?.token ?? null;
  }

  /** Tells other processes where this one can be reached (null: nowhere), now and after locking anew. */
  async publish(url: string | null): Promise<void> {
    this.#url = url;
    await this.#lock?.publish(url);
  }

  /** Makes sure that the folder is ours, before a write. */
  readonly ensureOwner = async (): Promise<Result<void>> => {
    if (this.#lock !== null && (await this.#lock.isHeld())) return ok();
    try {
      const locked = await DataFolderLock.acquire(this.path);
      if (!locked.ok) return locked.owner.token === this.token ? ok() : taken(this.path, locked.owner);
      this.#lock = locked.lock;
      if (this.#url !== null) await locked.lock.publish(this.#url);
      return ok();
    } catch (error) {
      return storageError(error, this.path);
    }
  };

  async release(): Promise<void> {
    await this.#lock?.release();
  }
}

function taken(path: string, owner: DataFolderOwner) {
  const who = owner.url === null ? `process ${owner.pid}` : owner.url;
  return fail(
    'storage_failed',
    `Another Dormouse (${who}) has the data folder ${path} now.`,
    'End one of the two, or start one with another --data-dir.',
  );
}
