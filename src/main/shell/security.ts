import type { BrowserWindowConstructorOptions } from 'electron';
import { isAppUrl, appUrl } from './app-url.ts';
import type { ContentsFace, ElectronModules, SessionFace } from './electron-faces.ts';

/**
 * What every page of this app runs with. The spell checker is on where the system brings it (macOS): elsewhere Electron
 * would fetch its dictionaries from the internet.
 */
export function webPreferences(
  preload: string,
  platform: NodeJS.Platform,
): NonNullable<BrowserWindowConstructorOptions['webPreferences']> {
  return {
    preload,
    sandbox: true,
    contextIsolation: true,
    nodeIntegration: false,
    nodeIntegrationInWorker: false,
    nodeIntegrationInSubFrames: false,
    webSecurity: true,
    allowRunningInsecureContent: false,
    experimentalFeatures: false,
    webviewTag: false,
    navigateOnDragDrop: false,
    spellcheck: platform === 'darwin',
    // Answers go on while the window is hidden, and a hidden page has nothing to draw.
    backgroundThrottling: true,
  };
}

/** A link that may leave for the system's browser or mail program. */
export function isOutsideUrl(url: string): boolean {
  return URL.canParse(url) && ['https:', 'mailto:'].includes(new URL(url).protocol);
}

/** Holds for every page that is ever made, whoever makes it. */
export function secureAllContents({ app, shell }: Pick<ElectronModules, 'app' | 'shell'>): void {
  app.on('web-contents-created', (_event, contents) => {
    secureSession(contents.session);
    secureContents(contents, (url) => void shell.openExternal(url).catch(() => undefined));
  });
}

function secureContents(contents: ContentsFace, openOutside: (url: string) => void): void {
  const stay = (event: { preventDefault(): void }, url: string) => {
    if (isAppUrl(url)) return;
    event.preventDefault();
    if (isOutsideUrl(url)) openOutside(url);
  };
  contents.on('will-navigate', stay);
  contents.on('will-redirect', (event, url) => {
    if (!isAppUrl(url)) event.preventDefault();
  });
  contents.on('will-attach-webview', (event) => event.preventDefault());
  contents.setWindowOpenHandler(({ url }) => {
    if (isOutsideUrl(url)) openOutside(url);
    return { action: 'deny' };
  });
}

/** The page needs no camera, no position and no download, so nothing can talk it into asking. */
function secureSession(session: SessionFace): void {
  session.setPermissionRequestHandler((_contents, _permission, callback) => callback(false));
  session.setPermissionCheckHandler(() => false);
  session.setDevicePermissionHandler(() => false);
  session.setDisplayMediaRequestHandler((_request, callback) => callback({}));
  // To our own protocol, which has none: never to the internet.
  session.setSpellCheckerDictionaryDownloadURL(`${appUrl}dictionaries/`);
  session.on('will-download', (event) => event.preventDefault());
}
