import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';

/** Every thread spins until the time is over or nobody waits for it any more. */
const program = `
const { Worker, isMainThread, workerData } = require('node:worker_threads');
if (isMainThread) {
  const [parent, threads, ms] = process.argv.slice(1).map(Number);
  const end = Date.now() + ms;
  for (let index = 1; index < threads; index++) new Worker(process.env.BENCH_SPIN, { eval: true, workerData: end });
  process.stdout.write('busy\\n', () => {
    const turn = () => {
      const until = Date.now() + 50;
      while (Date.now() < until);
      if (Date.now() > end || process.ppid !== parent) process.exit(0);
      setImmediate(turn);
    };
    turn();
  });
}`;
const spin = `const { workerData } = require('node:worker_threads'); while (Date.now() < workerData);`;

/**
 * Keeps `threads` cores busy from a session of its own, which is a scheduling group of its own, while `work` runs. It
 * ends after `ms` by itself, and within 50 ms when this process is gone.
 */
export async function withBusySession<Result>(
  threads: number,
  ms: number,
  work: () => Promise<Result>,
): Promise<Result> {
  const child: ChildProcess = spawn(process.execPath, ['-e', program, `${process.pid}`, `${threads}`, `${ms}`], {
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, BENCH_SPIN: spin },
  });
  try {
    if (child.stdout) await once(child.stdout, 'data');
    return await work();
  } finally {
    child.kill('SIGKILL');
  }
}
