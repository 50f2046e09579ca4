import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ownerIsRunning } from '../../../src/main/store/data-folder-lock.ts';
import { DataFolderLock, type DataFolderOwner } from '../../../src/main/store/index.ts';
import { processStartTime } from '../../../src/main/store/process-start-time.ts';
import { temporaryFolder } from '../../support/temp-folder.ts';

const fileOf = (folder: string) => join(folder, 'dormouse.lock');

async function acquire(
  folder: string,
  running?: (owner: DataFolderOwner) => Promise<boolean>,
): Promise<DataFolderLock> {
  const locked = await DataFolderLock.acquire(folder, running);
  if (!locked.ok) throw new Error('held by somebody else');
  return locked.lock;
}

it('one holder at a time; the second learns who it is and where', async () => {
  const folder = temporaryFolder();
  const lock = await acquire(folder);
  await lock.publish('http://127.0.0.1:1234');
  const second = await DataFolderLock.acquire(folder);
  expect(second).toMatchObject({
    ok: false,
    owner: { pid: process.pid, url: 'http://127.0.0.1:1234', token: lock.token },
  });
  await lock.release();
  expect((await DataFolderLock.acquire(folder)).ok).toBe(true);
});

it('many at once: exactly one gets it, also over a stale lock', async () => {
  for (let round = 0; round < 10; round++) {
    const folder = temporaryFolder();
    if (round % 2 === 1)
      writeFileSync(fileOf(folder), JSON.stringify({ pid: 1, startTime: 'long ago', token: 'stale', url: null }));
    const isRunning = (owner: DataFolderOwner) => Promise.resolve(owner.token !== 'stale');
    const results = await Promise.all(Array.from({ length: 12 }, () => DataFolderLock.acquire(folder, isRunning)));
    const winners = results.filter((result) => result.ok);
    expect(winners).toHaveLength(1);
    const held = JSON.parse(readFileSync(fileOf(folder), 'utf8')) as DataFolderOwner;
    expect(winners[0]?.ok && winners[0].lock.token).toBe(held.token);
    expect(readdirSync(folder)).toEqual(['dormouse.lock']);
  }
});

it.each([
  ['of a process that is gone', { pid: 2 ** 22 + 1, startTime: 'x', token: 't', url: null }],
  ['of another process with the same number', { pid: process.pid, startTime: 'another boot:1', token: 't', url: null }],
  [
    'of an earlier start of a process number that is in use',
    { pid: 1, startTime: 'another boot:1', token: 't', url: null },
  ],
])('a lock %s is broken', async (_name, owner) => {
  const folder = temporaryFolder();
  writeFileSync(fileOf(folder), JSON.stringify(owner));
  await acquire(folder);
});

it('an empty or broken lock file (a crash while it was written) is broken', async () => {
  for (const content of ['', '{"pid":', '[]']) {
    const folder = temporaryFolder();
    writeFileSync(fileOf(folder), content);
    await acquire(folder);
  }
});

it('a running process is believed', async () => {
  const startTime = await processStartTime(process.pid);
  expect(startTime).not.toBeNull();
  expect(await ownerIsRunning({ pid: process.pid, startTime, token: '', url: null })).toBe(true);
  expect(await processStartTime(process.pid)).toBe(startTime);
});

it('releasing does not take away what somebody else has taken meanwhile', async () => {
  const folder = temporaryFolder();
  const first = await acquire(folder);
  await acquire(folder, () => Promise.resolve(false));
  await first.release();
  expect(existsSync(fileOf(folder))).toBe(true);
});

it('the file can be read by its owner only (it holds a token)', async () => {
  const folder = temporaryFolder();
  await acquire(folder);
  const { statSync } = await import('node:fs');
  expect(statSync(fileOf(folder)).mode & 0o077).toBe(0);
});
