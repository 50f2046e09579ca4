import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../support/temp-folder.ts';
import { waitFor } from '../support/wait-for.ts';

const root = resolve(import.meta.dirname, '../..');

it.runIf(process.platform === 'linux')(
  'npm start without a display opens the page and says in one sentence why there is no window (bug: Electron fails, nothing opens)',
  async () => {
    const script = join(root, 'scripts/start.mjs');
    const { DISPLAY: _display, WAYLAND_DISPLAY: _wayland, ...env } = process.env;
    const args = [script, '--port', '0', '--data-dir', temporaryFolder()];
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let [out, errors] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    const ended = new Promise<number | null>((done) => child.once('close', done));
    try {
      await waitFor('the link', () => /http:\/\/127\.0\.0\.1:\d+\/#t=/.test(out), { timeoutMs: 60_000 });
      const sentences = errors.split('\n').filter((line) => line.includes('opens in the browser'));
      expect(sentences).toHaveLength(1);
      expect(sentences[0]).toContain('there is no display here');
    } finally {
      child.kill('SIGTERM');
    }
    expect(await ended).toBe(0);
  },
);

it('test:electron says why it is skipped where there is no Electron (bug: green without having looked)', async () => {
  const child = spawn(process.execPath, [join(root, 'scripts/test-electron.mjs')], {
    env: { ...process.env, ELECTRON_OVERRIDE_DIST_PATH: temporaryFolder() },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  expect(await new Promise((done) => child.once('close', done))).toBe(0);
  expect(out).toMatch(/^skipped: Electron is not installed here\.$/m);
});
