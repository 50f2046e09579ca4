import type { Flag } from '../../src/main/contract/flags.ts';

type FlagModule = { readonly flags: Readonly<Record<string, Flag>>; readonly flagRange: (flag: Flag) => string };

export function loadFlags(): Promise<FlagModule>;
export function flagTable(module: FlagModule): string;
export function withFlagTable(readme: string, table: string): string | undefined;
