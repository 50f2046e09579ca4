import './styles/tokens.css';
import './styles/base.css';
import './styles/page.css';
import './styles/code.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app/index.ts';
import { AppState, AppStateContext, createBridge } from './state/index.ts';
import { readSettings, readView, showTheme, writeSettings, writeView } from './page-settings.ts';

const openChatKey = 'dormouse-open-chat';

const state = new AppState({
  bridge: createBridge(),
  schedule: (paint) => requestAnimationFrame(paint),
  now: () => Date.now(),
  goTo: (url) => location.assign(url),
  remembered: {
    read: () => sessionStorage.getItem(openChatKey),
    write: (id) => (id === null ? sessionStorage.removeItem(openChatKey) : sessionStorage.setItem(openChatKey, id)),
  },
  rememberedSettings: { read: readSettings, write: writeSettings },
  rememberedView: { read: readView, write: writeView },
  tab: {
    isVisible: () => document.visibilityState === 'visible',
    onVisibility: (listener) => {
      document.addEventListener('visibilitychange', listener);
      return () => document.removeEventListener('visibilitychange', listener);
    },
    wait: (milliseconds, done) => {
      const timer = setTimeout(done, milliseconds);
      return () => clearTimeout(timer);
    },
  },
});
const { settings } = state;
showTheme(settings.store.getState().settings.theme);
settings.store.subscribe((now) => showTheme(now.settings.theme));
state.start();

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no #root');
createRoot(root).render(
  <StrictMode>
    <AppStateContext value={state}>
      <App />
    </AppStateContext>
  </StrictMode>,
);
