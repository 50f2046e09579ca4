import { chmodSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { DataFolder } from '../../../src/main/store/index.ts';
import { temporaryFolder } from '../../support/temp-folder.ts';

const silent = () => undefined;

async function open(path: string, notices: string[] = []): Promise<DataFolder> {
  const opened = await DataFolder.open(path, (text) => notices.push(text));
  if (!opened.ok) throw new Error('held by somebody else');
  return opened.folder;
}

it('a folder that was deleted is locked anew before the next write (two would write into it)', async () => {
  const path = join(temporaryFolder(), 'data');
  const folder = await open(path);
  await folder.publish('http://127.0.0.1:1');
  rmSync(path, { recursive: true });
  expect((await folder.ensureOwner()).ok).toBe(true);
  expect(await DataFolder.open(path, silent)).toMatchObject({ ok: false, owner: { url: 'http://127.0.0.1:1' } });
});

it('whoever locks a deleted folder first keeps it; the other one is told who', async () => {
  const path = join(temporaryFolder(), 'data');
  const first = await open(path);
  rmSync(path, { recursive: true });
  const second = await open(path);
  await second.publish('http://127.0.0.1:2');
  expect(await first.ensureOwner()).toMatchObject({ ok: false, error: { code: 'storage_failed' } });
  expect((await second.ensureOwner()).ok).toBe(true);
  await first.release();
  expect(existsSync(join(path, 'dormouse.lock'))).toBe(true);
});

it('a folder that cannot be written at the start is locked as soon as it can', async (context) => {
  if (process.getuid?.() === 0 && process.seteuid === undefined)
    return context.skip('skipped: root may write everywhere');
  const path = temporaryFolder();
  chmodSync(path, 0o555);
  const root = process.getuid?.() === 0;
  if (root) process.seteuid?.(65_534);
  const notices: string[] = [];
  const folder = await open(path, notices);
  const refused = await folder.ensureOwner();
  if (root) process.seteuid?.(0);
  expect(notices[0]).toContain('may not write');
  expect(refused).toMatchObject({ ok: false, error: { code: 'storage_failed' } });
  expect(folder.token).toBeNull();
  chmodSync(path, 0o755);
  expect((await folder.ensureOwner()).ok).toBe(true);
  expect(folder.token).not.toBeNull();
  expect((await DataFolder.open(path, silent)).ok).toBe(false);
});
