import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { DesktopBench } from '../../../support/desktop-bench.ts';
import { FakeEvent, ownFrame } from '../../../support/fake-electron.ts';
import { temporaryFolder } from '../../../support/temp-folder.ts';

let appFolder = '';
let bench: DesktopBench;
beforeEach(async () => {
  appFolder = temporaryFolder();
  const renderer = join(appFolder, 'build', 'app', 'renderer');
  mkdirSync(join(renderer, 'assets'), { recursive: true });
  writeFileSync(join(renderer, 'index.html'), '<!doctype html>');
  writeFileSync(join(renderer, 'assets', 'index-B3xY9aQz.js'), '1');
  writeFileSync(join(renderer, 'assets', 'index-B3xY9aQz.css'), 'a{}');
  writeFileSync(join(renderer, 'icon.svg'), '<svg/>');
  writeFileSync(join(appFolder, 'secret.txt'), 'secret');
  symlinkSync(join(appFolder, 'secret.txt'), join(renderer, 'link.txt'));
  bench = await DesktopBench.open({ appFolder });
});

const get = (url: string, method = 'GET') => {
  const handler = bench.electron.protocols.get('app');
  if (handler === undefined) throw new Error('no app:// handler');
  // Chromium gives the path as it was written; Request would resolve it first.
  return handler({ url, method } as Request);
};

describe('the window', () => {
  it('runs sandboxed, isolated, without node and without webviews (bug: a page that reaches the computer)', () => {
    expect(bench.electron.window.options.webPreferences).toMatchObject({
      sandbox: true,
      contextIsolation: true,
      nodeIntegration: false,
      nodeIntegrationInWorker: false,
      nodeIntegrationInSubFrames: false,
      webSecurity: true,
      allowRunningInsecureContent: false,
      webviewTag: false,
      navigateOnDragDrop: false,
      preload: join(appFolder, 'build/app/preload/preload.cjs'),
    });
    expect(bench.electron.app.log).toContain('sandbox');
  });

  it('grants no permission, no device, no screen and no download', () => {
    const { session } = bench.electron.window.webContents;
    const answers: unknown[] = [];
    for (const permission of ['media', 'geolocation', 'clipboard-read', 'notifications', 'openExternal'])
      session.permissionRequest?.({}, permission, (granted) => answers.push(granted));
    session.mediaRequest?.({}, (streams) => answers.push(streams));
    expect(answers).toEqual([false, false, false, false, false, {}]);
    expect([session.permissionCheck?.(), session.deviceCheck?.()]).toEqual([false, false]);
    const download = new FakeEvent();
    session.emit('will-download', download);
    expect(download.defaultPrevented).toBe(true);
  });

  it('fetches no dictionary from the internet (bug: "nothing leaves your computer" is wrong)', async () => {
    expect(bench.electron.window.webContents.session.dictionaryUrl).toMatch(/^app:\/\/dormouse\//);
    expect(bench.electron.window.options.webPreferences?.spellcheck).toBe(false);
    const mac = await DesktopBench.open({ platform: 'darwin' });
    expect(mac.electron.window.options.webPreferences?.spellcheck).toBe(true);
  });

  it.each([
    ['https://example.org/', ['https://example.org/']],
    ['mailto:me@example.org', ['mailto:me@example.org']],
    ['http://example.org/', []],
    ['file:///etc/passwd', []],
    ['javascript:alert(1)', []],
    ['smb://server/share', []],
    ['ms-msdt:/id', []],
    ['app://dormouse.evil/', []],
    ['app://user@dormouse/', []],
    ['not a url', []],
  ])('goes nowhere and opens no window for %s', (url, opened) => {
    const { webContents } = bench.electron.window;
    for (const event of ['will-navigate', 'will-redirect'] as const) {
      const navigation = new FakeEvent();
      webContents.emit(event, navigation, url);
      expect(navigation.defaultPrevented, event).toBe(true);
    }
    expect(bench.electron.opened).toEqual(opened);
    expect(webContents.windowOpen({ url })).toEqual({ action: 'deny' });
    expect(bench.electron.opened).toEqual([...opened, ...opened]);
  });

  it('may reload itself', () => {
    const navigation = new FakeEvent();
    bench.electron.window.webContents.emit('will-navigate', navigation, 'app://dormouse/');
    expect(navigation.defaultPrevented).toBe(false);
    const webview = new FakeEvent();
    bench.electron.window.webContents.emit('will-attach-webview', webview);
    expect(webview.defaultPrevented).toBe(true);
  });
});

describe('app://', () => {
  it.each([
    ['app://dormouse/', 'text/html; charset=utf-8'],
    ['app://dormouse/assets/index-B3xY9aQz.js', 'text/javascript; charset=utf-8'],
    ['app://dormouse/assets/index-B3xY9aQz.css', 'text/css; charset=utf-8'],
    ['app://dormouse/icon.svg', 'image/svg+xml'],
    ['app://dormouse/broken', 'text/html; charset=utf-8'],
  ])('serves %s with its type and the headers that hold the page', async (url, type) => {
    const response = await get(url);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe(type);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('content-security-policy')?.split('; ')).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self' data:",
      "font-src 'self'",
      "connect-src 'none'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ]);
  });

  it.each([
    'app://dormouse/../../../secret.txt',
    'app://dormouse/..%2f..%2f..%2fsecret.txt',
    'app://dormouse/%2e%2e/%2e%2e/%2e%2e/secret.txt',
    'app://dormouse/assets/..%5c..%5c..%5c..%5csecret.txt',
    'app://dormouse/link.txt',
    'app://dormouse//etc/passwd',
    'app://dormouse/C:/secret.txt',
    'app://dormouse/%00',
    'app://dormouse/%',
    'app://evil/index.html',
    'app://dormouse.evil/index.html',
  ])('gives nothing for %s (bug: a file outside the page)', async (url) => {
    const response = await get(url);
    expect(response.status).toBe(404);
    expect(await response.text()).not.toContain('secret');
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
  });

  it('answers nothing but GET', async () => {
    expect((await get('app://dormouse/', 'POST')).status).toBe(405);
  });
});

describe('IPC', () => {
  it.each([
    ['a frame inside the page', { url: 'app://dormouse/', parent: ownFrame }],
    ['a web page', { url: 'https://example.org/', parent: null }],
    ['a local file', { url: 'file:///index.html', parent: null }],
    ['a page of a similar name', { url: 'app://dormouse.evil/', parent: null }],
    ['the server over HTTP', { url: 'http://127.0.0.1:8089/', parent: null }],
    ['a frame that has gone', null],
  ])('refuses %s (bug: anybody may load files)', async (_who, frame) => {
    const loads: string[] = [];
    bench.chat.engine.onLoad = (path) => loads.push(path);
    const reply = await bench.electron.invoke('dormouse:request', ['engine.load', { model: '/m.gguf' }], frame);
    expect(reply).toMatchObject({ ok: false, error: { code: 'forbidden' } });
    expect(loads).toEqual([]);
  });

  it('answers its own page, and sends to a window only while it lives', async () => {
    expect(await bench.ask('app.info')).toMatchObject({ ok: true, data: { shell: 'desktop' } });
    expect(await bench.electron.invoke('dormouse:request', [{ name: 'app.info' }, {}])).toMatchObject({ ok: false });
    bench.electron.window.webContents.destroyed = true;
    expect(() => bench.app.notify('late')).not.toThrow();
  });
});
