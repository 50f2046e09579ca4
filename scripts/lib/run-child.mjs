import { spawn } from 'node:child_process';
import process from 'node:process';

const numberOf = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15, SIGKILL: 9 };

/**
 * Runs a program in the foreground. Stop signals go on to it, and it gets `graceMs` to shut down: Dormouse itself needs
 * at most ten seconds for that.
 * @returns its exit code, and `output` when `capture` is set (stdout and stderr together).
 */
export function runChild(command, args, { capture = false, graceMs = 12_000, ...options } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: capture ? ['ignore', 'pipe', 'pipe'] : 'inherit', ...options });
    let output = '';
    let stopped;
    let lastSignal = 0;
    const timers = [];
    const collect = (chunk) => (output += chunk);
    child.stdout?.setEncoding('utf8').on('data', collect);
    child.stderr?.setEncoding('utf8').on('data', collect);

    const forward = (signal) => {
      // npm passes on what the terminal has already sent to everybody: the same request, not a second one.
      const now = Date.now();
      const repeated = now - lastSignal < 500;
      lastSignal = now;
      if (repeated) return;
      stopped ??= signal;
      // Ctrl-C at a terminal reaches the child by itself, and sent twice it would read as "at once".
      const wait = signal === 'SIGINT' && process.stdin.isTTY ? graceMs / 2 : 0;
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
