import { describe, expect, it } from 'vitest';
import { appMenu } from '../../../../src/main/shell/app-menu.ts';
import { contextMenu } from '../../../../src/main/shell/context-menu.ts';
import { autostartPath, setLoginEntry } from '../../../../src/main/shell/login-entry.ts';
import { hasTrayHost, type RunProgram } from '../../../../src/main/shell/tray-host.ts';
import { trayLook, type TrayState } from '../../../../src/main/shell/tray-menu.ts';
import { windowPlace } from '../../../../src/main/shell/window-place.ts';
import { ownArguments } from '../../../../src/main/desktop.ts';
import { readFileSync } from 'node:fs';
import { FakeElectron } from '../../../support/fake-electron.ts';
import { ScriptedEngine, scriptedModel } from '../../../support/scripted-engine.ts';
import { temporaryFolder } from '../../../support/temp-folder.ts';

const ready = new ScriptedEngine().status();
const state = (changes: Partial<TrayState> = {}): TrayState => ({
  status: { ...ready, model: scriptedModel, sleep: { step: 'asleep', since: 0, cores: 0 } },
  step: null,
  windowVisible: false,
  server: { on: true, url: 'http://127.0.0.1:8089' },
  lastModel: 'builtin',
  ...changes,
});
const labels = (changes?: Partial<TrayState>) =>
  trayLook(state(changes)).entries.map((each) => (each.kind === 'entry' ? each.label : '-'));

describe('tray look', () => {
  it('asleep: what it costs, the model, and what one can do', () => {
    expect(labels()).toEqual([
      'Asleep - 0.00 cores',
      'Scripted',
      '-',
      'Show Dormouse',
      'New chat',
      'Monitor',
      '-',
      'Server: http://127.0.0.1:8089',
      'Copy address',
      'Switch the server off',
      'Server settings and log',
      '-',
      'Unload the model',
      '-',
      'Quit Dormouse',
    ]);
    expect(trayLook(state()).icon).toBe('asleep');
  });

  it('generating: the speed, and no unload that would wait for the answer', () => {
    const status = { ...ready, state: 'generating', tokensPerSecond: 41.3 } as const;
    const look = trayLook(state({ status, windowVisible: true }));
    expect(look.icon).toBe('awake');
    expect(look.toolTip).toBe('Dormouse: Generating - 41 tok/s');
    expect(labels({ status, windowVisible: true })).toEqual(
      expect.arrayContaining(['Generating - 41 tok/s', 'Hide Dormouse']),
    );
    expect(labels({ status })).not.toContain('Unload the model');
  });

  it.each([
    ['empty', 'No model loaded', true],
    ['failed', 'The model could not be loaded', true],
    ['loading', 'Loading… 50 %', false],
    ['prefill', 'Reading the prompt…', false],
    ['unloading', 'Unloading…', false],
  ] as const)('%s says "%s"', (name, line, wakes) => {
    const status = { ...ready, state: name, loadProgress: 0.5 };
    expect(labels({ status })[0]).toBe(line);
    expect(labels({ status }).includes('Wake: load the last model')).toBe(wakes);
  });

  it('hibernated and waking are no missing model and no common load (bug: a tray that says nothing is loaded)', () => {
    expect(labels({ step: 'hibernated', status: { ...ready, state: 'empty' } })[0]).toMatch(/^Hibernated/);
    expect(labels({ step: 'waking', status: { ...ready, state: 'loading', loadProgress: 0.5 } })[0]).toBe('Waking…');
  });

  it('without a server and without a last model it offers neither', () => {
    const found = labels({ server: { on: false, url: null }, lastModel: null, status: { ...ready, state: 'empty' } });
    expect(found).toEqual(expect.arrayContaining(['Server: off', 'Switch the server on']));
    expect(found).not.toContain('Copy address');
    expect(found).not.toContain('Wake: load the last model');
  });
});

describe('tray host', () => {
  const answering =
    (answers: Record<string, string>): RunProgram =>
    (program) =>
      program in answers ? Promise.resolve(answers[program] ?? '') : Promise.reject(new Error('ENOENT'));

  it.each([
    ['gdbus says yes', { gdbus: '(true,)\n' }, true],
    ['gdbus says no', { gdbus: '(false,)\n', 'dbus-send': '   boolean true' }, false],
    ['only dbus-send is there', { 'dbus-send': '   boolean true' }, true],
    ['nobody can be asked', {}, false],
  ])('Linux: %s', async (_name, answers, expected) => {
    expect(await hasTrayHost('linux', answering(answers))).toBe(expected);
  });

  it('macOS and Windows always have one', async () => {
    expect(await hasTrayHost('darwin', answering({}))).toBe(true);
    expect(await hasTrayHost('win32', answering({}))).toBe(true);
  });
});

describe('window place', () => {
  const screen = { x: 0, y: 0, width: 1920, height: 1080 };
  const last = { x: 100, y: 100, width: 900, height: 700, maximized: false, zoomLevel: 0 };

  it('opens in the middle the first time', () => {
    expect(windowPlace(null, [screen])).toEqual({ x: 370, y: 140, width: 1180, height: 800 });
  });

  it('opens where it was', () => {
    expect(windowPlace(last, [screen])).toEqual({ x: 100, y: 100, width: 900, height: 700 });
    const left = { ...screen, x: -1920 };
    expect(windowPlace({ ...last, x: -1500 }, [screen, left]).x).toBe(-1500);
  });

  it.each([
    ['its display is gone', { ...last, x: 2500 }],
    ['it lies above every display', { ...last, y: -900 }],
    ['only a sliver can be seen', { ...last, x: 1915 }],
    ['the numbers are nonsense', { ...last, x: 1e9, y: -1e9 }],
  ])('comes back to the first display when %s (bug: a window nobody finds)', (_name, place) => {
    const { x, y, width, height } = windowPlace(place, [screen]);
    expect(x >= 0 && y >= 0 && x + width <= 1920 && y + height <= 1080).toBe(true);
  });

  it('is not larger than a display that became smaller', () => {
    const small = { x: 0, y: 0, width: 800, height: 600 };
    expect(windowPlace({ ...last, x: 0, y: 0, width: 3000, height: 2000 }, [small])).toMatchObject({
      width: 800,
      height: 600,
    });
  });

  it('opens even if the system tells of no display', () => {
    expect(windowPlace(last, [])).toMatchObject({ width: 900, height: 700 });
  });
});

describe('menus', () => {
  const actions = { newChat() {}, monitor() {}, server() {}, openModel() {}, copyDiagnostics() {}, about() {} };
  const roles = (platform: NodeJS.Platform) =>
    JSON.stringify(appMenu(platform, actions))
      .match(/"role":"\w+"/g)
      ?.join() ?? '';

  it.each(['linux', 'win32', 'darwin'] as const)('%s has editing, zoom and quit (bug: Cmd+C does nothing)', (os) => {
    for (const role of ['undo', 'cut', 'copy', 'paste', 'selectAll', 'zoomIn', 'zoomOut', 'resetZoom', 'quit', 'close'])
      expect(roles(os), role).toContain(`"${role}"`);
  });

  it('macOS has its own first menu; the others have About under Help', () => {
    expect(roles('darwin')).toContain('hideOthers');
    expect(roles('linux')).not.toContain('hideOthers');
  });

  it('text fields get suggestions and editing; text gets copy; nothing gets no menu', () => {
    const flags = { canCut: true, canCopy: true, canPaste: false } as never;
    const field = { isEditable: true, selectionText: '', editFlags: flags, dictionarySuggestions: ['model'] };
    const chosen: string[] = [];
    const menu = contextMenu(field, (text) => chosen.push(text));
    (menu[0]?.click as unknown as () => void)();
    expect(chosen).toEqual(['model']);
    expect(menu.find(({ role }) => role === 'paste')?.enabled).toBe(false);
    const text = { ...field, isEditable: false, selectionText: 'words' };
    expect(contextMenu(text, () => undefined).map(({ role }) => role)).toEqual(['copy', 'selectAll']);
    expect(contextMenu({ ...text, selectionText: ' ' }, () => undefined)).toEqual([]);
  });
});

describe('login entry', () => {
  it('quotes a program with spaces and special letters as the specification wants', async () => {
    const home = temporaryFolder();
    const electron = new FakeElectron().modules;
    const command = ['/home/me/my apps/100% "Dormouse".AppImage'];
    await setLoginEntry(true, { electron, platform: 'linux', environment: {}, home, command });
    const entry = readFileSync(autostartPath({}, home), 'utf8');
    expect(entry).toContain('Exec="/home/me/my apps/100%% \\\\"Dormouse\\\\".AppImage" --hidden');
  });
});

describe('arguments', () => {
  it('are those of Dormouse, packaged or not (bug: "--js-flags" or the app folder is an unknown flag)', () => {
    expect(ownArguments({ argv: ['dormouse', '--js-flags=--no-memory-reducer', '--hidden'] }, true)).toEqual([
      '--hidden',
    ]);
    expect(ownArguments({ argv: ['electron', '.', '--js-flags=--x', 'm.gguf'] }, false)).toEqual(['m.gguf']);
  });
});
