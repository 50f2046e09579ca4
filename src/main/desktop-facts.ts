import { cpus, release, totalmem, type } from 'node:os';

type Versions = Readonly<Record<string, string | undefined>>;

/** What the About panel and the diagnostics tell of program and computer. */
export function systemFacts(version: string, { versions, platform }: Pick<NodeJS.Process, 'versions' | 'platform'>) {
  const named: Versions = { ...versions };
  const of = (name: string) => named[name] ?? 'none';
  return {
    about: {
      applicationName: 'Dormouse',
      applicationVersion: version,
      copyright: `Electron ${of('electron')}, Chromium ${of('chrome')}, Node ${of('node')}. MIT license.`,
    },
    diagnostics: {
      version,
      versions: named,
      system: `${type()} ${release()} (${platform}, ${process.arch})`,
      cores: cpus().length,
      memoryBytes: totalmem(),
    },
  };
}
