import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import log from 'electron-log/node';
import type { LogFields, Logger } from '../base/index.ts';

/** The file rotates at this size; one older file is kept as `dormouse.old.log`. */
const largestLogBytes = 1024 * 1024;

export type LogLevel = 'error' | 'warn' | 'info' | 'debug';

export type LogFile = { readonly logger: Logger; readonly path: string };

/**
 * Opens the rotating log file `logs/dormouse.log` in the data folder.
 * A folder that cannot be written loses the log, never the app: what goes wrong is told once through `onProblem`.
 * @param level the least severe level that is written.
 */
export function openLogFile(dataFolder: string, level: LogLevel, onProblem: (message: string) => void): LogFile {
  const path = join(dataFolder, 'logs', 'dormouse.log');
  const instance = log.create({ logId: path });
  // Without a name electron-log looks for a package.json around the current folder, and logs nothing where there is none.
  instance.transports.file.setAppName('dormouse');
  // Trouble with files is told through the first instance there is, which is the module's own.
  log.transports.console = quietConsole(path, onProblem);
  instance.transports.console.level = false;
  instance.transports.file.resolvePathFn = () => path;
  instance.transports.file.maxSize = largestLogBytes;
  instance.transports.file.format = '[{y}-{m}-{d} {h}:{i}:{s}.{ms}{z}] [{level}] {text}';
  instance.transports.file.level = level;
  try {
    mkdirSync(join(dataFolder, 'logs'), { recursive: true });
  } catch (error) {
    instance.transports.file.level = false;
    onProblem(`No log is written: ${error instanceof Error ? error.message : String(error)}`);
  }
  const write = (name: LogLevel) => (message: string, fields?: LogFields) => instance[name](lineOf(message, fields));
  return { path, logger: { error: write('error'), warn: write('warn'), info: write('info'), debug: write('debug') } };
}

/**
 * electron-log tells its own trouble on the console, as a stack trace for each line that it cannot write. Here it is told
 * once, in a sentence; a folder that was deleted is made again, so that the next line is written.
 */
function quietConsole(path: string, onProblem: (message: string) => void): typeof log.transports.console {
  let told = false;
  const hear = ({ data }: { readonly data: readonly unknown[] }) => {
    const reason = data.find((each) => each instanceof Error)?.message ?? String(data[0]);
    if (!told) onProblem(`The log cannot be written: ${reason}`);
    told = true;
    try {
      mkdirSync(dirname(path), { recursive: true });
    } catch {
      // Told above.
    }
  };
  return Object.assign(hear, log.transports.console, { level: false as const });
}

/** One line per entry, also when a field holds line breaks, so that entries cannot be forged. */
function lineOf(message: string, fields: LogFields = {}): string {
  const values = Object.entries(fields).filter(([, value]) => value !== undefined);
  return [message, ...values.map(([name, value]) => `${name}=${JSON.stringify(value)}`)]
    .join(' ')
    .replace(/[\r\n]+/g, ' ');
}
