import { spawn } from 'node:child_process';
import process from 'node:process';

const graceMs = 10_000;
const numberOf = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15, SIGKILL: 9 };

/**
 * Runs a program in the foreground. Stop signals go on to it, and it gets ten seconds to shut down.
 * @returns its exit code, and `output` when `capture` is set (stdout and stderr together).
 */
export function runChild(command, args, { capture = false, ...options } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: capture ? ['ignore', 'pipe', 'pipe'] : 'inherit', ...options });
    let output = '';
    let stopped;
    const timers = [];
    const collect = (chunk) => (output += chunk);
    child.stdout?.setEncoding('utf8').on('data', collect);
    child.stderr?.setEncoding('utf8').on('data', collect);

    const forward = (signal) => {
      stopped ??= signal;
      // On a terminal Ctrl-C reaches the child by itself; sent at once a second time it could read as "hurry".
      const wait = signal === 'SIGINT' && process.stdin.isTTY ? 1_500 : 0;
      timers.push(
        setTimeout(() => child.kill(signal), wait),
        setTimeout(() => child.kill('SIGKILL'), graceMs),
      );
    };
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
    for (const signal of signals) process.on(signal, forward);
    const settle = () => {
      for (const timer of timers) clearTimeout(timer);
      for (const signal of signals) process.off(signal, forward);
    };

    child.on('error', (error) => {
      settle();
      reject(error);
    });
    child.on('close', (code, signal) => {
      settle();
      const byOurSignal = stopped && code === null ? 128 + numberOf[stopped] : undefined;
      resolve({ code: code ?? byOurSignal ?? 128 + (numberOf[signal] ?? 0), stopped, output });
    });
  });
}
