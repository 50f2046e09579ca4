import { execFile } from 'node:child_process';

/** Longest time the question may take, in ms. */
const answerLimit = 2000;

/** Runs a program. Rejects when there is none, it fails or takes too long. @returns what it printed. */
export type RunProgram = (program: string, args: readonly string[]) => Promise<string>;

const runProgram: RunProgram = (program, args) =>
  new Promise((resolve, reject) => {
    execFile(program, [...args], { timeout: answerLimit }, (error, stdout) => {
      if (error === null) resolve(stdout);
      else reject(new Error(error.message));
    });
  });

const bus = 'org.freedesktop.DBus';
const host = 'org.kde.StatusNotifierWatcher';

/**
 * Whether this desktop shows tray icons. On Linux only a StatusNotifierWatcher on the session bus does; where it cannot
 * be asked the answer is no, since a window hidden without an icon could not be reached any more.
 */
export async function hasTrayHost(platform: NodeJS.Platform, run: RunProgram = runProgram): Promise<boolean> {
  if (platform !== 'linux') return true;
  const object = '/org/freedesktop/DBus';
  const method = `${bus}.NameHasOwner`;
  const questions: readonly (readonly [string, readonly string[]])[] = [
    ['gdbus', ['call', '--session', '--dest', bus, '--object-path', object, '--method', method, host]],
    ['dbus-send', ['--session', '--print-reply=literal', `--dest=${bus}`, object, method, `string:${host}`]],
  ];
  for (const [program, args] of questions) {
    try {
      return /\btrue\b/.test(await run(program, args));
    } catch {
      // The next one may be installed.
    }
  }
  return false;
}
