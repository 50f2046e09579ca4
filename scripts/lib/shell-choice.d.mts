export function chooseShell(facts: {
  readonly args: readonly string[];
  /** `22.12.0` */
  readonly node: string;
  readonly platform: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly uid: number | null;
  /** `none`: no package; `missing`: the package without its program. */
  readonly electron: 'ready' | 'missing' | 'none';
  /** Unix time in ms of the last try that failed. */
  readonly failedAt: number | null;
  readonly now: number;
}): { readonly shell: 'electron' | 'browser' | 'fetch'; readonly why: string | null };
export function electronProgram(): string | undefined;
