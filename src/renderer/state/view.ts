import { createStore, type StoreApi } from 'zustand/vanilla';

export type PageName = 'chat' | 'monitor' | 'server';

export interface ViewState {
  readonly page: PageName;
  /** Whether the panel beside the chat is open; null until a person has chosen, then the window's width decides. */
  readonly panelOpen: boolean | null;
}

/** Over reloads of this tab. */
export interface RememberedView {
  readonly read: () => Partial<ViewState>;
  readonly write: (view: ViewState) => void;
}

/** Which page this tab shows. Each tab has its own, so main knows nothing of it. */
export class View {
  readonly store: StoreApi<ViewState>;

  constructor(remembered: RememberedView) {
    this.store = createStore(() => ({ page: 'chat', panelOpen: null, ...remembered.read() }));
    this.store.subscribe((view) => remembered.write(view));
  }

  show(page: PageName): void {
    this.store.setState({ page });
  }

  setPanel(panelOpen: boolean): void {
    this.store.setState({ panelOpen });
  }
}
