import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ElectronModules } from './electron-faces.ts';
import { en } from './en.ts';

export type LoginEntryOptions = {
  readonly electron: Pick<ElectronModules, 'app'>;
  readonly platform: NodeJS.Platform;
  readonly environment: NodeJS.ProcessEnv;
  readonly home: string;
  /** The program and the arguments that start this app. */
  readonly command: readonly string[];
};

/** Starts Dormouse, hidden in the tray, when the person logs in; or no longer. Rejects with the system's error. */
export async function setLoginEntry(on: boolean, options: LoginEntryOptions): Promise<void> {
  const { electron, platform, environment, home, command } = options;
  if (platform === 'darwin' || platform === 'win32') {
    electron.app.setLoginItemSettings({ openAtLogin: on, args: ['--hidden'] });
    return;
  }
  const path = autostartPath(environment, home);
  if (!on) return rm(path, { force: true });
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, desktopEntry([...command, '--hidden']));
}

/** Where freedesktop's autostart specification looks. */
export function autostartPath(environment: NodeJS.ProcessEnv, home: string): string {
  return join(environment['XDG_CONFIG_HOME'] || join(home, '.config'), 'autostart', 'dormouse.desktop');
}

function desktopEntry(command: readonly string[]): string {
  return [
    '[Desktop Entry]',
    'Type=Application',
    `Name=${en.appName}`,
    `Exec=${command.map(quoted).join(' ')}`,
    'X-GNOME-Autostart-enabled=true',
    'Terminal=false',
    '',
  ].join('\n');
}

/** One argument of an Exec line: quoted, with the specification's two rounds of escaping, and `%` doubled. */
function quoted(argument: string): string {
  if (/^[\w@+=:,./-]+$/.test(argument)) return argument;
  const inner = argument.replace(/(["`$\\])/g, '\\$1').replace(/%/g, '%%');
  return `"${inner.replace(/\\/g, '\\\\')}"`;
}
