export const addonPath: string;
export function missingTools(): string[];
export function explainMissing(missing: readonly string[]): string;
export function addonState(): 'fresh' | 'stale' | 'failed' | 'no-tools';
export function whyNoAddon(): string | undefined;
export function buildAddon(): Promise<void>;
export function buildNativeTests(preset: string): Promise<void>;
export function programPath(preset: string, name: string): string;
