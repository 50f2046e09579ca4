import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/**
 * When a process began, as text that differs between two processes with the same number.
 * @returns null when that cannot be known.
 */
export async function processStartTime(pid: number): Promise<string | null> {
  try {
    switch (process.platform) {
      case 'linux': {
        // Field 22 of proc(5) stat, in clock ticks since boot; the name in field 2 may hold spaces and brackets.
        const line = await readFile(`/proc/${pid}/stat`, 'utf8');
        const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
        const boot = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
        return fields[19] === undefined ? null : `${boot}:${fields[19]}`;
      }
      case 'win32':
        return await run('powershell', ['-NoProfile', '-Command', `(Get-Process -Id ${pid}).StartTime.Ticks`]);
      default:
        return await run('ps', ['-o', 'lstart=', '-p', String(pid)]);
    }
  } catch {
    return null;
  }
}

async function run(command: string, args: readonly string[]): Promise<string | null> {
  const { stdout } = await promisify(execFile)(command, [...args], { timeout: 5000, windowsHide: true });
  return stdout.trim() || null;
}
