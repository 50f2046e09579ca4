/** What the rest of main logs through. Messages and fields never carry prompt text, answers or keys. */
export interface Logger {
  error(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
}

export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

export const silentLogger: Logger = { error() {}, warn() {}, info() {}, debug() {} };
