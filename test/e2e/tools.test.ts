import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AppProcess } from '../support/app-process.ts';
import { waitFor } from '../support/wait-for.ts';

const root = resolve(import.meta.dirname, '../..');
const key = 'k3y-that-nobody-may-see';
const run = promisify(execFile);

let app: AppProcess;
let folder: string;

beforeAll(async () => {
  app = await AppProcess.start({
    args: ['--model', 'builtin', '--alias', 'gpt-4o=builtin'],
    env: { DORMOUSE_API_KEY: key },
  });
  await waitFor('the model', async () => {
    const reply = await fetch(`${app.origin}/v1/status`, { headers: { 'x-api-key': key } });
    return ((await reply.json()) as { engine: { state: string } }).engine.state === 'ready';
  });
  // Inside the repository, so that the snippets find the packages they import.
  folder = join(root, 'build', 'tools', `readme-${process.pid}`);
  mkdirSync(folder, { recursive: true });
});

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await app.stop();
});

const readme = readFileSync(join(root, 'README.md'), 'utf8');
const section = readme.slice(readme.indexOf('## Use it from your tools'), readme.indexOf('## What it measures'));
const snippets = [...section.matchAll(/^```(sh|js)\n([\s\S]*?)^```$/gm)].map(([, kind = '', code = '']) => ({
  kind,
  code,
}));

/** As a reader runs it, but with the port of this app, and with the key. */
async function runSnippet(kind: string, code: string, index: number): Promise<string> {
  const here = code.replaceAll('http://127.0.0.1:8089', app.origin);
  const env = { ...process.env, DORMOUSE_API_KEY: key };
  if (kind === 'sh') {
    const withKey = here.replace("-H 'content-type", `-H 'authorization: Bearer ${key}' -H 'content-type`);
    return (await run('sh', ['-c', withKey], { env })).stdout;
  }
  const file = join(folder, `snippet-${index}.mjs`);
  writeFileSync(file, here);
  return (await run(process.execPath, [file], { env })).stdout;
}

describe('README, "Use it from your tools"', () => {
  it('has a snippet for a shell and for both client packages (bug: a section that lost its code)', () => {
    expect(snippets.map(({ kind }) => kind)).toEqual(['sh', 'js', 'js']);
  });

  it.each(snippets.map((snippet, index) => ({ ...snippet, index })))(
    'snippet $index ($kind) answers (bug: code in the README that does not run)',
    async ({ kind, code, index }) => {
      const output = await runSnippet(kind, code, index);
      if (kind === 'sh') expect(output).toMatch(/"delta":\{"content":"[\s\S]*data: \[DONE\]/);
      // What a small model says is its own matter; that it says something is ours.
      else expect(output.trim()).toMatch(/\p{L}/u);
    },
  );

  it('names every route that the server has, and every figure of /metrics (bug: a table that fell behind)', async () => {
    const headers = { 'x-api-key': key };
    const document = (await (await fetch(`${app.origin}/openapi.json`, { headers })).json()) as { paths: object };
    for (const path of Object.keys(document.paths)) expect(section).toContain(`${path.replace('{id}', 'ID')}\``);
    const metrics = await (await fetch(`${app.origin}/metrics`, { headers })).text();
    for (const [, name] of metrics.matchAll(/^# TYPE (\S+)/gm)) expect(section).toContain(`\`${name}\``);
  });
});

it('keeps the key out of logs, files, output, pages, URLs and the command lines of all processes (bug: a key in a support mail)', async () => {
  const headers = { authorization: `Bearer ${key}` };
  await fetch(`${app.origin}/v1/models?key=other`, { headers: { authorization: 'Bearer wrong' } });
  expect((await fetch(`${app.origin}/v1/models`, { headers })).status).toBe(200);
  const replies = ['/', '/health', '/v1/status', '/metrics', '/openapi.json', '/v1/models'];
  const texts = await Promise.all(replies.map(async (path) => (await fetch(app.origin + path, { headers })).text()));
  expect(texts[0]).toContain('<html');
  for (const text of texts) expect(text).not.toContain(key);
  expect(app.output).not.toContain(key);
  expect(app.link).not.toContain(key);
  const files = readdirSync(app.dataFolder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(files.map(({ name }) => name)).toContain('dormouse.log');
  for (const file of files)
    expect(readFileSync(join(file.parentPath, file.name), 'latin1'), file.name).not.toContain(key);
  if (process.platform !== 'linux') return;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const commandLine = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      // Other tests may look for another key at the same time; this one is of this file alone.
      expect(commandLine).not.toContain(key);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error)) throw error;
    }
  }
});
