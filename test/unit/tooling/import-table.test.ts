import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../../..');
const packages = ['zod', 'electron', 'electron-log', 'node-llama-cpp', 'hono', 'react', 'write-file-atomic'];

/** A file and the one thing that it imports; `type` makes it `import type`. */
type Case = { readonly file: string; readonly imports: string; readonly type?: true };

const allowed: readonly Case[] = [
  { file: 'src/main/contract/chat.ts', imports: 'zod' },
  { file: 'src/main/base/paths.ts', imports: 'node:path' },
  { file: 'src/main/engine/engine.ts', imports: '../contract/index.ts' },
  { file: 'src/main/engine/state.ts', imports: '../base/index.ts' },
  { file: 'src/main/engine/threads.ts', imports: 'node:os' },
  { file: 'src/main/engine/llama-engine.ts', imports: 'node-llama-cpp' },
  { file: 'src/main/telemetry/cpu.ts', imports: 'node:os' },
  { file: 'src/main/store/files.ts', imports: 'write-file-atomic' },
  { file: 'src/main/store/log-file.ts', imports: 'electron-log' },
  { file: 'src/main/remote/client.ts', imports: '../engine/index.ts', type: true },
  { file: 'src/main/services/chat.ts', imports: '../engine/index.ts' },
  { file: 'src/main/services/remotes.ts', imports: '../remote/index.ts' },
  { file: 'src/main/services/kept.ts', imports: '../store/index.ts' },
  { file: 'src/main/server/app.ts', imports: 'hono' },
  { file: 'src/main/server/routes/models.ts', imports: '../../services/interfaces.ts' },
  { file: 'src/main/ipc/router.ts', imports: 'electron', type: true },
  { file: 'src/main/shell/tray.ts', imports: 'electron', type: true },
  { file: 'src/main/main.ts', imports: 'electron' },
  { file: 'src/main/preload/preload.ts', imports: '../contract/index.ts', type: true },
  { file: 'src/main/desktop.ts', imports: './engine/index.ts' },
  { file: 'src/renderer/ui/button.tsx', imports: 'react' },
  { file: 'src/renderer/ui/time.tsx', imports: '../lib/format.ts' },
  { file: 'src/renderer/lib/format.ts', imports: 'react' },
  { file: 'src/renderer/state/store.ts', imports: '../../main/contract/index.ts', type: true },
  { file: 'src/renderer/state/http-bridge.ts', imports: '../../main/contract/index.ts' },
  { file: 'src/renderer/features/settings/panel.tsx', imports: '../../../main/contract/flags.ts' },
  { file: 'src/renderer/features/chat/index.tsx', imports: '../../state/index.ts' },
  { file: 'src/renderer/app/app.tsx', imports: '../features/chat/index.tsx' },
  { file: 'src/renderer/main.tsx', imports: './app/app.tsx' },
];

const forbidden: readonly (Case & { readonly rule: string })[] = [
  { rule: 'contract', file: 'src/main/contract/a.ts', imports: 'node:fs' },
  { rule: 'contract', file: 'src/main/contract/b.ts', imports: 'electron' },
  { rule: 'contract', file: 'src/main/contract/c.ts', imports: '../base/index.ts' },
  { rule: 'base', file: 'src/main/base/a.ts', imports: '../contract/index.ts' },
  { rule: 'base', file: 'src/main/base/b.ts', imports: 'zod' },
  { rule: 'engine', file: 'src/main/engine/a.ts', imports: 'node-llama-cpp' },
  { rule: 'engine', file: 'src/main/engine/b.ts', imports: 'electron' },
  { rule: 'engine', file: 'src/main/engine/c.ts', imports: '../shell/index.ts' },
  { rule: 'engine', file: 'src/main/engine/d.ts', imports: '../ipc/index.ts' },
  { rule: 'engine', file: 'src/main/engine/e.ts', imports: '../store/index.ts' },
  { rule: 'engine', file: 'src/main/engine/f.ts', imports: '../contract/chat.ts' },
  { rule: 'engine-llama', file: 'src/main/engine/llama-a.ts', imports: 'electron' },
  { rule: 'engine-llama', file: 'src/main/engine/llama-b.ts', imports: '../services/index.ts' },
  { rule: 'telemetry', file: 'src/main/telemetry/a.ts', imports: '../engine/engine.ts' },
  { rule: 'telemetry', file: 'src/main/telemetry/b.ts', imports: 'node-llama-cpp' },
  { rule: 'remote', file: 'src/main/remote/a.ts', imports: '../services/index.ts' },
  { rule: 'remote-types', file: 'src/main/remote/b.ts', imports: '../engine/index.ts' },
  { rule: 'store', file: 'src/main/store/a.ts', imports: '../engine/index.ts' },
  { rule: 'store', file: 'src/main/store/b.ts', imports: 'electron' },
  { rule: 'services', file: 'src/main/services/a.ts', imports: '../engine/engine.ts' },
  { rule: 'services', file: 'src/main/services/b.ts', imports: 'electron' },
  { rule: 'services', file: 'src/main/services/c.ts', imports: '../ipc/index.ts' },
  { rule: 'services', file: 'src/main/services/d.ts', imports: '../server/index.ts' },
  { rule: 'server', file: 'src/main/server/a.ts', imports: '../engine/index.ts' },
  { rule: 'server', file: 'src/main/server/b.ts', imports: '../services/chat.ts' },
  { rule: 'server', file: 'src/main/server/c.ts', imports: 'electron' },
  { rule: 'server', file: 'src/main/server/d.ts', imports: '../shell/index.ts' },
  { rule: 'ipc', file: 'src/main/ipc/a.ts', imports: '../engine/engine.ts' },
  { rule: 'ipc', file: 'src/main/ipc/b.ts', imports: '../shell/index.ts' },
  { rule: 'shell', file: 'src/main/shell/a.ts', imports: '../engine/engine.ts' },
  { rule: 'preload', file: 'src/main/preload/a.ts', imports: 'zod' },
  { rule: 'preload-types', file: 'src/main/preload/b.ts', imports: '../contract/index.ts' },
  { rule: 'shell', file: 'src/main/shell/b.ts', imports: '../services/interfaces.ts' },
  { rule: 'shell-types', file: 'src/main/shell/c.ts', imports: 'electron' },
  { rule: 'ipc-types', file: 'src/main/ipc/c.ts', imports: 'electron' },
  { rule: 'desktop-entry', file: 'src/main/main.ts', imports: './engine/engine.ts' },
  { rule: 'entries', file: 'src/main/app.ts', imports: './engine/engine.ts' },
  { rule: 'entries', file: 'src/main/cli.ts', imports: 'electron' },
  { rule: 'ui', file: 'src/renderer/ui/a.tsx', imports: '../state/store.ts' },
  { rule: 'ui', file: 'src/renderer/ui/b.tsx', imports: '../features/chat/index.tsx' },
  { rule: 'lib', file: 'src/renderer/lib/a.ts', imports: '../state/store.ts' },
  { rule: 'lib', file: 'src/renderer/lib/b.ts', imports: '../features/chat/index.tsx' },
  { rule: 'state', file: 'src/renderer/state/a.ts', imports: '../ui/button.tsx' },
  { rule: 'state', file: 'src/renderer/state/b.ts', imports: '../features/chat/index.tsx' },
  { rule: 'state-types', file: 'src/renderer/state/c.ts', imports: '../../main/contract/index.ts' },
  { rule: 'state-bridge', file: 'src/renderer/state/bridge.ts', imports: '../../main/engine/index.ts' },
  { rule: 'features', file: 'src/renderer/features/settings/a.tsx', imports: '../chat/index.tsx' },
  { rule: 'features', file: 'src/renderer/features/settings/b.tsx', imports: '../../app/app.tsx' },
  { rule: 'features', file: 'src/renderer/features/settings/c.tsx', imports: 'node:fs' },
  { rule: 'features-types', file: 'src/renderer/features/settings/d.tsx', imports: '../../../main/contract/index.ts' },
  { rule: 'features', file: 'src/renderer/features/settings/e.tsx', imports: '../../state/store.ts' },
  { rule: 'app', file: 'src/renderer/app/a.tsx', imports: '../features/chat/inside.tsx' },
  { rule: 'app', file: 'src/renderer/app/b.tsx', imports: '../../main/services/index.ts' },
  { rule: 'no-row', file: 'src/main/elsewhere/a.ts', imports: '../base/index.ts' },
];

/** What the cases import, so that every path can be resolved. */
const targets = ['shell', 'ipc', 'store', 'services', 'server', 'contract', 'base', 'engine', 'remote'].map(
  (folder) => `src/main/${folder}/index.ts`,
);
const furtherTargets = [
  'src/renderer/state/index.ts',
  'src/main/contract/flags.ts',
  'src/main/services/interfaces.ts',
  'src/renderer/features/chat/inside.tsx',
];

type Violation = { readonly from: string; readonly rule: { readonly name: string } };

function write(folder: string, path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

function makeTree(folder: string, cases: readonly Case[]): void {
  for (const name of packages) {
    write(folder, `node_modules/${name}/package.json`, JSON.stringify({ name, version: '1.0.0', main: 'index.js' }));
    write(folder, `node_modules/${name}/index.js`, 'module.exports = {};\n');
  }
  for (const path of [...targets, ...furtherTargets, ...allowed.map(({ file }) => file)]) {
    write(folder, path, 'export const value = 1;\n');
  }
  for (const { file, imports, type } of cases) {
    write(
      folder,
      file,
      `import ${type ? 'type ' : ''}* as value from '${imports}';\nexport type Value = typeof value;\n` +
        (type ? '' : 'export const use = () => value;\n'),
    );
  }
}

async function violationsIn(cases: readonly Case[]): Promise<readonly Violation[]> {
  const folder = mkdtempSync(join(tmpdir(), 'dormouse-imports-'));
  try {
    makeTree(folder, cases);
    const cruiser = join(root, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
    const args = [cruiser, '--config', join(root, '.dependency-cruiser.mjs'), '--output-type', 'json', 'src'];
    const output = await new Promise<string>((done) => {
      execFile(process.execPath, args, { cwd: folder, maxBuffer: 64 * 1024 * 1024 }, (_error, stdout) => done(stdout));
    });
    const { summary } = JSON.parse(output) as { summary: { violations: readonly Violation[] } };
    return summary.violations;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe('import table', () => {
  let broken: readonly Violation[] = [];
  beforeAll(async () => {
    broken = await violationsIn(forbidden);
  }, 60_000);
  afterAll(() => {
    broken = [];
  });

  it('accepts what the table allows', async () => {
    expect(await violationsIn(allowed)).toEqual([]);
  });

  it.each(forbidden)('$rule: $file may not import $imports', ({ rule, file }) => {
    expect(broken.filter(({ from }) => from === file).map((violation) => violation.rule.name)).toContain(rule);
  });

  it('reports nothing but the broken rows', () => {
    const files = new Set(forbidden.map(({ file }) => file));
    expect(broken.filter(({ from }) => !files.has(from))).toEqual([]);
  });
});
