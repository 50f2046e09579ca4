import type { EngineStatus } from '../contract/index.ts';

export type DiagnosticsInput = {
  readonly version: string;
  /** Of Electron, Chromium, Node and V8. */
  readonly versions: Readonly<Record<string, string | undefined>>;
  /** Name, release and architecture of the system. */
  readonly system: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly status: EngineStatus | null;
  readonly trayHost: boolean;
};

/** What helps to find a fault, to be pasted into a report. Holds no prompt, no answer, no key and no path. */
export function diagnostics(input: DiagnosticsInput): string {
  const { version, versions, system, cores, memoryBytes, status, trayHost } = input;
  const model = status?.model ?? null;
  const pool = status?.pool ?? null;
  const lines: readonly (readonly [string, string])[] = [
    ['Dormouse', version],
    ...['electron', 'chrome', 'node', 'v8'].map((name) => [name, versions[name] ?? 'none'] as const),
    ['System', system],
    ['Cores', String(cores)],
    ['Memory', `${(memoryBytes / 2 ** 30).toFixed(1)} GiB`],
    ['Tray icons', trayHost ? 'shown' : 'not shown by this desktop'],
    ['Engine', status?.state ?? 'not started'],
    ['Error', status?.error?.code ?? 'none'],
    [
      'Model',
      model === null
        ? 'none'
        : `${model.architecture} ${model.quantization ?? ''}, ${model.layers} layers, ${model.experts} experts, context ${model.contextSize}`,
    ],
    [
      'Pool',
      pool === null ? 'none' : pool.installed ? `${pool.threads} threads, spin ${pool.spinMs} ms` : 'not in use',
    ],
    ['Sleep', status?.sleep?.step ?? 'unknown'],
  ];
  return lines.map(([name, value]) => `${name}: ${value}`).join('\n');
}
