import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { silentLogger } from '../../../src/main/base/index.ts';
import { defaultSettings, ok } from '../../../src/main/contract/index.ts';
import type { Migrations } from '../../../src/main/store/settings-file.ts';
import { SettingsFile } from '../../../src/main/store/index.ts';
import { unwrap } from '../../support/engine.ts';
import { temporaryFolder } from '../../support/temp-folder.ts';

let path: string;
let notices: string[];
beforeEach(() => {
  path = join(temporaryFolder(), 'sub', 'settings.json');
  notices = [];
});

const open = (migrations: Migrations = []) =>
  SettingsFile.open({
    path,
    logger: silentLogger,
    onNotice: (text) => notices.push(text),
    ensureOwner: () => Promise.resolve(ok()),
    migrations,
  });

function write(content: unknown): void {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
}

it('remembers changes over a restart, and leaves no other file', async () => {
  const file = await open();
  expect(file.value).toEqual(defaultSettings);
  unwrap(await file.set({ theme: 'dark' }));
  unwrap(await file.set({ lastModel: '/m.gguf' }));
  expect((await open()).value).toEqual({ ...defaultSettings, theme: 'dark', lastModel: '/m.gguf' });
  expect(readdirSync(join(path, '..'))).toEqual(['settings.json']);
  expect(notices).toEqual([]);
});

it.each(['{"version":1,', '', '[]', 'null', '{"theme":"dark"}'])(
  'a broken file (%j) is kept aside, defaults are used, and it says so',
  async (content) => {
    write(content);
    expect((await open()).value).toEqual(defaultSettings);
    expect(readFileSync(`${path}.broken`, 'utf8')).toBe(content);
    expect(notices[0]).toContain('.broken');
  },
);

it('a second broken file does not overwrite the first that was kept', async () => {
  write('first');
  await open();
  write('second');
  await open();
  expect(readFileSync(`${path}.broken`, 'utf8')).toBe('first');
  expect(readFileSync(`${path}.broken-2`, 'utf8')).toBe('second');
});

it('one bad value loses itself, not its neighbours', async () => {
  write({ version: 1, theme: 'plaid', sidebarOpen: false });
  expect((await open()).value).toEqual({ ...defaultSettings, sidebarOpen: false });
  expect(notices[0]).toContain('theme');
});

it('migrates older files step by step', async () => {
  write({ version: 1, dark: true });
  const migrations: Migrations = [
    ({ dark, ...rest }) => ({ ...rest, look: dark === true ? 'dark' : 'light' }),
    ({ look, ...rest }) => ({ ...rest, theme: look }),
  ];
  const file = await open(migrations);
  expect(file.value.theme).toBe('dark');
  unwrap(await file.set({ sidebarOpen: false }));
  expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ version: 3, theme: 'dark' });
});

it('a file of a newer version is used as far as it is understood and never written', async () => {
  const newer = { version: 9, theme: 'light', hologram: true };
  write(newer);
  const file = await open();
  expect(file.value.theme).toBe('light');
  unwrap(await file.set({ theme: 'dark' }));
  expect(file.value.theme).toBe('dark');
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(newer);
});

it('a change that cannot be saved counts all the same and answers an error', async () => {
  const file = await open();
  rmSync(join(path, '..'), { recursive: true, force: true });
  writeFileSync(join(path, '..'), 'a file where the folder should be');
  expect(await file.set({ theme: 'dark' })).toMatchObject({ ok: false, error: { code: 'storage_failed' } });
  expect(file.value.theme).toBe('dark');
  expect(existsSync(path)).toBe(false);
});

it('many changes at once end with the last of each', async () => {
  const file = await open();
  await Promise.all(
    Array.from({ length: 20 }, (_, index) => file.set({ lastModel: `/m${index}`, sidebarOpen: index % 2 === 0 })),
  );
  expect((await open()).value).toMatchObject({ lastModel: '/m19', sidebarOpen: false });
});
