import { createContext, useCallback, useContext, useEffect, useSyncExternalStore } from 'react';
import { useStore } from 'zustand';
import type { AppState, ConnectionStoreState } from './app-state.ts';
import type { ConversationsState } from './conversations.ts';
import type { EngineStoreState } from './engine.ts';
import type { NoticeEntry } from './notices.ts';
import type { ServerState } from './server.ts';
import type { SettingsState } from './settings.ts';
import type { StreamView } from './stream-hub.ts';
import type { TelemetryState } from './telemetry.ts';
import type { ViewState } from './view.ts';

export const AppStateContext = createContext<AppState | null>(null);

export function useAppState(): AppState {
  const state = useContext(AppStateContext);
  if (state === null) throw new Error('AppStateContext is missing');
  return state;
}

export function useConnection<T>(selector: (state: ConnectionStoreState) => T): T {
  return useStore(useAppState().connection, selector);
}

export function useEngine<T>(selector: (state: EngineStoreState) => T): T {
  return useStore(useAppState().engine.store, selector);
}

export function useConversations<T>(selector: (state: ConversationsState) => T): T {
  return useStore(useAppState().conversations.store, selector);
}

export function useSettings<T>(selector: (state: SettingsState) => T): T {
  return useStore(useAppState().settings.store, selector);
}

export function useServer<T>(selector: (state: ServerState) => T): T {
  return useStore(useAppState().server.store, selector);
}

export function useView<T>(selector: (state: ViewState) => T): T {
  return useStore(useAppState().view.store, selector);
}

/** Samples come only while a component that uses `useWatch` is on the page and the page is visible. */
export function useTelemetry<T>(selector: (state: TelemetryState) => T): T {
  return useStore(useAppState().telemetry.store, selector);
}

export function useWatch(): void {
  const { telemetry } = useAppState();
  useEffect(() => telemetry.attach(), [telemetry]);
}

export function useNotices(): readonly NoticeEntry[] {
  return useStore(useAppState().notices.store, (state) => state.notices);
}

/** What `select` takes from a running stream, painted at most once per frame; null where there is none. */
export function useStream<T>(streamId: string | null, select: (view: StreamView) => T): T | null {
  const { streams } = useAppState();
  const subscribe = useCallback(
    (listener: () => void) => (streamId === null ? () => undefined : streams.subscribe(streamId, listener)),
    [streams, streamId],
  );
  return useSyncExternalStore(subscribe, () => {
    const view = streamId === null ? null : streams.view(streamId);
    return view === null ? null : select(view);
  });
}
