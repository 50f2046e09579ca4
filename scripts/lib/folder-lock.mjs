import { mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';

const beatMs = 2_000;
const silentMs = 60_000;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Runs `work` while no other process holds the same lock. A lock is a folder, since making one is atomic everywhere;
 * one whose owner is gone, or has given no sign for a minute, is broken.
 */
export async function withFolderLock(folder, onWait, work) {
  mkdirSync(dirname(folder), { recursive: true });
  let waiting = false;
  while (!tryTake(folder)) {
    const owner = readOwner(folder);
    if (isStale(folder, owner)) breakLock(folder, owner);
    else {
      if (!waiting) onWait(owner?.pid);
      waiting = true;
      await sleep(300);
    }
  }
  const beat = setInterval(() => touch(folder), beatMs);
  beat.unref();
  const release = () => rmSync(folder, { recursive: true, force: true });
  process.on('exit', release);
  try {
    return await work();
  } finally {
    clearInterval(beat);
    process.off('exit', release);
    release();
  }
}

function tryTake(folder) {
  try {
    mkdirSync(folder);
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
  writeFileSync(join(folder, 'owner.json'), JSON.stringify({ pid: process.pid, host: hostname() }));
  return true;
}

function readOwner(folder) {
  try {
    return JSON.parse(readFileSync(join(folder, 'owner.json'), 'utf8'));
  } catch {
    return undefined;
  }
}

function isStale(folder, owner) {
  let age;
  try {
    age = Date.now() - statSync(folder).mtimeMs;
  } catch {
    return false;
  }
  if (age > silentMs) return true;
  // Between making the folder and naming its owner lies an instant; longer than that is a crash.
  if (!owner) return age > 5_000;
  return owner.host === hostname() && !isAlive(owner.pid);
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Moved aside first, so that of two breakers only one takes it; a lock that changed hands meanwhile is put back. */
function breakLock(folder, judged) {
  const aside = `${folder}.broken-${process.pid}`;
  try {
    renameSync(folder, aside);
    if (readOwner(aside)?.pid !== judged?.pid) renameSync(aside, folder);
    else rmSync(aside, { recursive: true, force: true });
  } catch {
    rmSync(aside, { recursive: true, force: true });
  }
}

function touch(folder) {
  try {
    const now = new Date();
    utimesSync(folder, now, now);
  } catch {
    // Gone: nothing left to keep fresh.
  }
}
