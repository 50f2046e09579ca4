import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DesktopBench } from '../../../support/desktop-bench.ts';
import { scriptedModel } from '../../../support/scripted-engine.ts';

import { temporaryFolder } from '../../../support/temp-folder.ts';
import { waitFor } from '../../../support/wait-for.ts';

describe('closing the window', () => {
  it('hides it, goes on answering, and the page that is shown again has it all (bug: closing stops the answer)', async () => {
    const bench = await DesktopBench.open();
    bench.electron.window.emit('ready-to-show');
    const { streamId } = await bench.startAnswer();
    bench.electron.window.close();
    expect([bench.electron.window.visible, bench.electron.window.destroyed]).toEqual([false, false]);
    expect(bench.electron.notifications.map(({ options }) => options.title)).toEqual(['Dormouse sleeps in the tray']);
    bench.chat.engine.part(streamId, { kind: 'text', text: ' upon a time' });
    bench.electron.tray.choose('Show Dormouse');
    expect(bench.electron.window.visible).toBe(true);
    const snapshot = await bench.ask('stream.attach', { streamId });
    expect(snapshot.data).toMatchObject({ text: 'Once upon a time', ended: false });
    await bench.endAnswer(streamId);
    expect(bench.sentTypes).toContain('stream.end');
    expect((await bench.chat.last(snapshot.data['conversationId'] ?? 'id1'))?.status).not.toBe('stopped');
  });

  it('tells once that it still runs (bug: a notification at every close)', async () => {
    const bench = await DesktopBench.open();
    bench.electron.window.close();
    bench.electron.window.close();
    expect(bench.electron.notifications).toHaveLength(1);
    await waitFor('the setting', () => bench.chat.settings.value.trayNoticeShown);
  });

  it('minimises where no tray shows icons (bug: a window that nothing can bring back)', async () => {
    const bench = await DesktopBench.open({ trayHost: false });
    bench.electron.window.emit('ready-to-show');
    bench.electron.window.close();
    expect(bench.electron.trays).toHaveLength(0);
    expect([bench.electron.window.visible, bench.electron.window.minimised]).toEqual([true, true]);
  });

  it('started hidden without a tray, it is minimised (bug: running, and nowhere to be seen)', async () => {
    const bench = await DesktopBench.open({ trayHost: false, args: ['--hidden'] });
    expect([bench.electron.window.visible, bench.electron.window.minimised]).toEqual([true, true]);
  });

  it('started hidden with a tray, it is not shown until it is asked for', async () => {
    const bench = await DesktopBench.open({ args: ['--hidden'] });
    bench.electron.window.emit('ready-to-show');
    expect(bench.electron.window.visible).toBe(false);
    bench.electron.tray.emit('click');
    expect(bench.electron.window.visible).toBe(true);
  });

  it('ends the app when the person turned the tray off (bug: the setting does nothing)', async () => {
    const bench = await DesktopBench.open({ settings: { closeToTray: false } });
    bench.electron.window.close();
    await waitFor('the end', () => bench.electron.app.exitCode === 0);
    expect([bench.closed, bench.electron.tray.destroyed]).toEqual([1, true]);
  });

  it('remembers where it was and how large its page is drawn', async () => {
    const folder = temporaryFolder();
    const bench = await DesktopBench.open({ folder });
    bench.electron.window.bounds = { x: 100, y: 50, width: 900, height: 700 };
    bench.electron.window.webContents.zoomLevel = 1;
    bench.electron.window.close();
    bench.electron.app.quit();
    await waitFor('the end', () => bench.electron.app.exitCode === 0);
    const kept = JSON.parse(readFileSync(join(folder, 'settings.json'), 'utf8')) as { window: unknown };
    expect(kept.window).toEqual({ x: 100, y: 50, width: 900, height: 700, maximized: false, zoomLevel: 1 });
  });
});

describe('quit', () => {
  it('asks while an answer is written, and "keep running" leaves everything (bug: a lost answer)', async () => {
    const bench = await DesktopBench.open();
    const { streamId } = await bench.startAnswer();
    bench.electron.tray.choose('Quit Dormouse');
    bench.electron.tray.choose('Quit Dormouse');
    expect(bench.electron.questions).toHaveLength(1);
    bench.electron.questions[0]?.answer(1);
    await bench.endAnswer(streamId);
    expect([bench.electron.app.exitCode, bench.electron.window.destroyed, bench.closed]).toEqual([null, false, 0]);
  });

  it('after "quit" everything is closed before the process ends (bug: a window that stays, a file half written)', async () => {
    const bench = await DesktopBench.open();
    const { streamId } = await bench.startAnswer();
    bench.electron.app.quit();
    bench.electron.questions[0]?.answer(0);
    await waitFor('the services to be closed', () => bench.closed === 1);
    expect(bench.electron.app.exitCode).toBeNull();
    await bench.endAnswer(streamId);
    await waitFor('the end', () => bench.electron.app.exitCode === 0);
    expect(bench.electron.window.destroyed).toBe(true);
    expect(bench.electron.blockers.size).toBe(0);
  });

  it('asks nobody when nothing is written, nor when the system or a terminal ends it', async () => {
    const quiet = await DesktopBench.open();
    quiet.electron.app.quit();
    await waitFor('the end', () => quiet.electron.app.exitCode === 0);
    expect(quiet.electron.questions).toHaveLength(0);
    for (const end of ['SIGTERM', 'shutdown'] as const) {
      const bench = await DesktopBench.open();
      const { streamId } = await bench.startAnswer();
      if (end === 'shutdown') bench.electron.powerMonitor.emit('shutdown');
      else bench.proc.emit('SIGTERM');
      await waitFor('the services to be closed', () => bench.closed === 1);
      await bench.endAnswer(streamId);
      await waitFor('the end', () => bench.electron.app.exitCode === 0);
      expect(bench.electron.questions).toHaveLength(0);
    }
  });
});

it('a window that is hidden or minimised is no page that is seen, nor is the tray (bug: the engine never goes to light)', async () => {
  const bench = await DesktopBench.open();
  bench.electron.window.emit('ready-to-show');
  const seen = () => bench.ladder.pages.at(-1);
  await waitFor('the window to be counted', () => seen() === 1);
  bench.electron.window.close();
  await waitFor('the hidden window to be left out', () => seen() === 0);
  bench.electron.window.show();
  await waitFor('the window to be counted again', () => seen() === 1);
});

describe('power', () => {
  it('suspend in prefill stops the answer and keeps it; resume says so (bug: an answer that fails after waking)', async () => {
    const bench = await DesktopBench.open();
    const { streamId, conversationId } = await bench.startAnswer();
    bench.chat.engine.become({ state: 'prefill' });
    bench.electron.powerMonitor.emit('suspend');
    await bench.chat.ended(streamId);
    expect(await bench.chat.last(conversationId)).toMatchObject({ status: 'stopped', text: 'Once' });
    bench.chat.engine.become({ state: 'ready' });
    bench.electron.powerMonitor.emit('resume');
    await waitFor('the notice', () => bench.notices.some((text) => text.includes('was stopped')));
    expect(bench.notices).toHaveLength(1);
  });

  it('resume with a failed engine says plainly what to do (bug: a page that looks ready)', async () => {
    const bench = await DesktopBench.open();
    const error = { code: 'out_of_memory', message: 'The graphics memory is gone.' } as const;
    bench.electron.powerMonitor.emit('suspend');
    bench.chat.engine.become({ state: 'failed', error });
    bench.electron.powerMonitor.emit('resume');
    const notice = await waitFor('the notice', () => bench.notices[0]);
    expect(notice).toContain('The graphics memory is gone.');
    expect(notice).toContain('Load the model again');
  });

  it('keeps the computer awake while it answers, and only then (bug: a laptop that never sleeps)', async () => {
    const bench = await DesktopBench.open();
    expect(bench.electron.blockers.size).toBe(0);
    const { streamId } = await bench.startAnswer();
    bench.chat.engine.become({ tokensPerSecond: 40 });
    expect(bench.electron.blockers.size).toBe(1);
    await bench.endAnswer(streamId);
    expect(bench.electron.blockers.size).toBe(0);
  });
});

describe('a page that breaks', () => {
  it('is loaded again once, then an error page says what to do (bug: a loop, or a white window)', async () => {
    const bench = await DesktopBench.open();
    const { window } = bench.electron;
    window.webContents.emit('render-process-gone', {}, { reason: 'crashed' });
    expect(window.loaded).toEqual(['app://dormouse/', 'app://dormouse/']);
    bench.now += 59_000;
    window.webContents.emit('render-process-gone', {}, { reason: 'oom' });
    expect(window.loaded.at(-1)).toBe('app://dormouse/broken');
    bench.now += 61_000;
    window.webContents.emit('render-process-gone', {}, { reason: 'crashed' });
    expect(window.loaded.at(-1)).toBe('app://dormouse/');
  });
});

describe('a second launch', () => {
  it('hands its model to the first and ends before it touches the data folder (bug: two writers)', async () => {
    const folder = temporaryFolder();
    const second = await DesktopBench.open({
      folder,
      args: ['sub/m.gguf'],
      before: ({ app }) => (app.isFirst = false),
    });
    expect(second.electron.app.exitCode).toBe(0);
    expect(second.electron.app.lockData).toEqual({ model: join(folder, 'sub/m.gguf'), show: true });
    expect(existsSync(join(folder, 'dormouse.lock'))).toBe(false);
    expect(second.electron.windows).toHaveLength(0);
  });

  it('shows the window of the first, and asks it for the model', async () => {
    const first = await DesktopBench.open({ args: ['--hidden'] });
    first.electron.app.emit('second-instance', {}, [], '/', { model: '/m.gguf', show: true });
    expect(first.wishes).toEqual([{ model: '/m.gguf', show: true }]);
    expect(first.electron.window.visible).toBe(true);
  });

  it('with --serve it leaves the window where it is', async () => {
    const second = await DesktopBench.open({ args: ['--serve'], before: ({ app }) => (app.isFirst = false) });
    expect(second.electron.app.lockData).toEqual({ model: null, show: false });
  });

  it('both locks guard the same folder (bug: another --data-dir is taken for a second launch)', async () => {
    const bench = await DesktopBench.open();
    expect(bench.electron.app.paths['userData']).toBe(join(bench.folder, 'window'));
  });
});

describe('start', () => {
  it('sets what Electron takes only before it is ready, and the flag against idle garbage collection', async () => {
    const bench = await DesktopBench.open({ args: ['--software-rendering'] });
    expect(bench.electron.app.log).toEqual(['sandbox', 'no gpu']);
    expect(bench.electron.app.switches).toContainEqual(['js-flags', '--no-memory-reducer']);
    expect(bench.electron.schemes.get('app')).toEqual({ standard: true, secure: true, supportFetchAPI: true });
  });

  it('refuses wrong arguments in a box, with exit code 2', async () => {
    const bench = await DesktopBench.open({ args: ['--prot', '1'] });
    expect(bench.electron.app.exitCode).toBe(2);
    expect(bench.electron.boxes[0]?.text).toContain('--prot');
  });

  it('opens a GGUF that macOS hands over, before and after the window is there', async () => {
    const loads: string[] = [];
    const bench = await DesktopBench.open({ platform: 'darwin' });
    bench.chat.engine.onLoad = (path) => loads.push(path);
    bench.electron.app.emit('open-file', { preventDefault() {} }, '/late.gguf');
    await waitFor('the load', () => loads.includes('/late.gguf'));
  });

  it('a broken part is told in a box and ends the app (bug: a process without a window that nobody sees)', async () => {
    const bench = await DesktopBench.open();
    bench.proc.emit('uncaughtException', new Error('bug'));
    expect([bench.electron.app.exitCode, bench.electron.boxes.length]).toEqual([1, 1]);
  });
});

describe('tray, menu and the system', () => {
  it('unloads, wakes, copies the address and begins a chat', async () => {
    const bench = await DesktopBench.open({ settings: { lastModel: '/last.gguf' } });
    const loads: string[] = [];
    bench.chat.engine.onLoad = (path) => loads.push(path);
    bench.electron.tray.choose('Copy address');
    expect(bench.electron.clipboardText).toBe('http://127.0.0.1:8089');
    bench.chat.engine.become({ state: 'empty', model: null });
    bench.electron.tray.choose('Wake: load the last model');
    await waitFor('the load', () => loads.includes('/last.gguf'));
    bench.chat.engine.become({ state: 'ready', model: scriptedModel });
    bench.electron.tray.choose('Unload the model');
    bench.electron.tray.choose('New chat');
    bench.electron.tray.choose('Monitor');
    bench.electron.tray.choose('Server settings and log');
    expect(bench.sentTypes.filter((type) => type === 'navigate')).toHaveLength(3);
  });

  it('switches the server off and on, over a restart too (bug: a tray that says on while nothing listens)', async () => {
    const bench = await DesktopBench.open();
    bench.electron.tray.choose('Switch the server off');
    await waitFor('the tray to say so', () => bench.electron.tray.labels.includes('Server: off'));
    expect(bench.server.opened).toEqual(['127.0.0.1:8089', 'closed']);
    expect(bench.electron.tray.labels).not.toContain('Copy address');
    expect(bench.chat.settings.value.serverOn).toBe(false);
    bench.electron.tray.choose('Switch the server on');
    await waitFor('the address', () => bench.electron.tray.labels.includes('Server: http://127.0.0.1:8089'));
    const off = await DesktopBench.open({ settings: { serverOn: false } });
    expect(off.server.opened).toEqual([]);
    const served = await DesktopBench.open({ settings: { serverOn: false }, args: ['--serve'] });
    expect(served.server.opened).toEqual(['127.0.0.1:8089']);
  });

  it('a port that is taken when the tray switches it on is told (bug: a click that does nothing)', async () => {
    const bench = await DesktopBench.open({ settings: { serverOn: false, serverPort: 9000 } });
    bench.server.refuse = '127.0.0.1:9000';
    bench.electron.tray.choose('Switch the server on');
    await waitFor('the notice', () => bench.notices.join().includes('It is taken.'));
  });

  it('draws the tray at most once a second while tokens come (bug: a menu that flickers and burns CPU)', async () => {
    const bench = await DesktopBench.open();
    const before = bench.electron.tray.drawn;
    for (let speed = 1; speed <= 200; speed++)
      bench.chat.engine.become({ state: 'generating', tokensPerSecond: speed });
    expect(bench.electron.tray.drawn - before).toBe(1);
    bench.now += 1000;
    bench.chat.engine.become({ tokensPerSecond: 300 });
    expect(bench.electron.tray.labels[0]).toBe('Generating - 300 tok/s');
  });

  it('tells about a long answer only to who does not look', async () => {
    const bench = await DesktopBench.open({ settings: { trayNoticeShown: true } });
    const { streamId } = await bench.startAnswer();
    bench.electron.window.close();
    bench.now += 21_000;
    await bench.endAnswer(streamId);
    expect(bench.electron.notifications.map(({ options }) => options.title)).toEqual(['Your answer is ready']);
    bench.electron.notifications[0]?.emit('click');
    expect(bench.electron.window.visible).toBe(true);
    const started = await bench.chat.chat.send({ text: 'again' });
    if (!started.ok) throw new Error(started.error.message);
    await bench.chat.engine.asked(2);
    bench.now += 21_000;
    await bench.endAnswer(started.data.streamId);
    expect(bench.electron.notifications).toHaveLength(1);
  });

  it('sets the shortcut from the settings, changes it, and says when another program has it', async () => {
    const bench = await DesktopBench.open({ settings: { globalShortcut: 'Alt+D' } });
    bench.electron.window.emit('ready-to-show');
    bench.electron.shortcuts.get('Alt+D')?.();
    expect(bench.electron.window.visible).toBe(false);
    bench.electron.shortcutsFree = false;
    await bench.ask('settings.set', { globalShortcut: 'Alt+E' });
    expect([...bench.electron.shortcuts.keys()]).toEqual([]);
    expect(bench.notices[0]).toContain('Alt+E');
  });

  it('writes and removes the autostart entry on Linux (bug: it starts with a window, or for ever)', async () => {
    const bench = await DesktopBench.open();
    const path = join(bench.folder, 'xdg', 'autostart', 'dormouse.desktop');
    await bench.ask('settings.set', { startAtLogin: true });
    await waitFor('the entry', () => readFileSync(path, 'utf8').includes('Exec=/opt/dormouse/dormouse --hidden'));
    await bench.ask('settings.set', { startAtLogin: false });
    await waitFor('the end of it', () => !existsSync(path));
  });

  it('asks the system on macOS and Windows', async () => {
    const bench = await DesktopBench.open({ platform: 'win32', settings: { startAtLogin: true } });
    expect(bench.electron.app.login).toEqual({ openAtLogin: true, args: ['--hidden'] });
  });

  it('copies diagnostics without a path, a prompt or a key', async () => {
    const bench = await DesktopBench.open({ args: ['--api-key', 'hush-hush'] });
    const { streamId } = await bench.startAnswer('my secret question');
    bench.chat.engine.become({ model: { ...scriptedModel, path: '/home/me/private.gguf', name: 'private' } });
    bench.electron.appMenu?.choose('Copy Diagnostics');
    expect(bench.electron.clipboardText).toContain('Dormouse: 1.2.3');
    expect(bench.electron.clipboardText).toContain('Engine: generating');
    expect(bench.electron.clipboardText).not.toMatch(/hush|secret|private|\/home/);
    await bench.endAnswer(streamId);
  });

  it('opens a model from the file dialog', async () => {
    const loads: string[] = [];
    const bench = await DesktopBench.open();
    bench.chat.engine.onLoad = (path) => loads.push(path);
    bench.electron.chosenFiles = ['/chosen.gguf'];
    bench.electron.appMenu?.choose('Open Model…');
    await waitFor('the load', () => loads.includes('/chosen.gguf'));
  });
});
