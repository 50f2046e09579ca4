import { createStore, type StoreApi } from 'zustand/vanilla';

export interface NoticeEntry {
  readonly id: number;
  readonly text: string;
}

export interface NoticesState {
  /** Oldest first. */
  readonly notices: readonly NoticeEntry[];
}

/** More than a person reads; a disk that fails at every message must not fill the page. */
const mostKept = 20;

/** What a person should know although nobody asked. Stays until dismissed. */
export class Notices {
  readonly store: StoreApi<NoticesState> = createStore(() => ({ notices: [] }));
  readonly #startTexts = new Set<string>();
  #lastId = 0;

  /** The same text is not shown twice at a time. */
  add(text: string): void {
    if (this.store.getState().notices.some((notice) => notice.text === text)) return;
    this.#lastId += 1;
    const entry = { id: this.#lastId, text };
    this.store.setState(({ notices }) => ({ notices: [...notices, entry].slice(-mostKept) }));
  }

  /** What main says about its start, with every new connection again: a dismissed one does not come back. */
  addOfStart(texts: readonly string[]): void {
    for (const text of texts) {
      if (!this.#startTexts.has(text)) this.add(text);
      this.#startTexts.add(text);
    }
  }

  dismiss(id: number): void {
    this.store.setState(({ notices }) => ({ notices: notices.filter((notice) => notice.id !== id) }));
  }
}
