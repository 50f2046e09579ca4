import { homedir } from 'node:os';
import { join } from 'node:path';

/** The folder for settings, chats and logs where the system wants it; `--data-dir` overrides it. */
export function defaultDataFolder(
  platform: NodeJS.Platform = process.platform,
  environment: NodeJS.ProcessEnv = process.env,
  home: string = homedir(),
): string {
  switch (platform) {
    case 'win32':
      return join(environment['APPDATA'] ?? join(home, 'AppData', 'Roaming'), 'Dormouse');
    case 'darwin':
      return join(home, 'Library', 'Application Support', 'Dormouse');
    default:
      return join(environment['XDG_CONFIG_HOME'] ?? join(home, '.config'), 'dormouse');
  }
}
