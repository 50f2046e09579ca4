import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withFolderLock } from '../../../scripts/lib/folder-lock.mjs';
import { explainNpm } from '../../../scripts/lib/install.mjs';
import { waitFor } from '../../support/wait-for.ts';

const root = resolve(import.meta.dirname, '../../..');
const moduleUrl = (name: string) => JSON.stringify(pathToFileURL(join(root, 'scripts/lib', name)).href);

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dormouse-start-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('what npm says becomes a sentence', () => {
  it('names a registry that cannot be reached, with the reason', () => {
    const output = [
      'npm error code ENOTFOUND',
      'npm error syscall getaddrinfo',
      'npm error errno ENOTFOUND',
      'npm error network request to http://nowhere.invalid/x failed, reason: getaddrinfo ENOTFOUND nowhere.invalid',
      'npm error network This is a problem related to network connectivity.',
      'npm error A complete log of this run can be found in: /home/x/.npm/_logs/1.log',
    ].join('\n');
    expect(explainNpm(output, 1)).toBe(
      'The package registry could not be reached. Dormouse needs the network once, to install its packages.\n' +
        'npm says: request to http://nowhere.invalid/x failed, reason: getaddrinfo ENOTFOUND nowhere.invalid',
    );
  });

  it.each([
    ['ENOSPC', /^No space left/],
    ['EACCES', /^No permission/],
    ['EROFS', /read-only/],
    ['EUSAGE', /do not belong together/],
    ['EINTEGRITY', /not the one the lock file names/],
  ])('%s', (code, expected) => {
    expect(explainNpm(`npm error code ${code}\nnpm error something`, 1)).toMatch(expected);
  });

  it('says so when npm gives no reason', () => {
    expect(explainNpm('', 7)).toContain('npm ended with exit code 7');
  });
});

describe('an old Node', () => {
  it.each(['start', 'test', 'lint', 'typecheck', 'bench', 'soak', 'prepare'])('%s says what is needed', (command) => {
    const pretend = join(folder, 'old.cjs');
    writeFileSync(pretend, "Object.defineProperty(process.versions, 'node', { value: '18.20.4' });");
    const script = join(root, 'scripts', `${command}.mjs`);
    const { status, stderr } = spawnSync(process.execPath, ['-r', pretend, script], { encoding: 'utf8' });
    expect(status).toBe(1);
    expect(stderr).toContain('needs Node.js 20.19 or newer');
    expect(stderr).toContain('18.20.4');
    expect(stderr).not.toContain('    at ');
  });
});

describe('folder lock', () => {
  it('lets two take turns and tells the second whom it waits for', async () => {
    const lock = join(folder, 'lock');
    const order: string[] = [];
    let waitedFor: number | undefined;
    let finish = (): void => undefined;
    const first = withFolderLock(
      lock,
      () => undefined,
      async () => {
        order.push('first begins');
        await new Promise<void>((done) => (finish = done));
        order.push('first ends');
      },
    );
    const second = withFolderLock(
      lock,
      (owner) => (waitedFor = owner),
      () => void order.push('second'),
    );
    await waitFor('the second to wait', () => waitedFor);
    finish();
    await Promise.all([first, second]);
    expect(order).toEqual(['first begins', 'first ends', 'second']);
    expect(waitedFor).toBe(process.pid);
  });

  it('is released when the work fails', async () => {
    const lock = join(folder, 'lock');
    await expect(
      withFolderLock(
        lock,
        () => undefined,
        () => Promise.reject(new Error('no')),
      ),
    ).rejects.toThrow('no');
    expect(() => statSync(lock)).toThrow('ENOENT');
  });

  it('is broken when its owner is gone', async () => {
    const lock = join(folder, 'lock');
    const gone = spawnSync(process.execPath, ['-e', '']).pid;
    mkdirSync(lock);
    writeFileSync(join(lock, 'owner.json'), JSON.stringify({ pid: gone, host: hostname() }));
    expect(
      await withFolderLock(
        lock,
        () => undefined,
        () => 'done',
      ),
    ).toBe('done');
  });

  it('is broken when its owner gave no sign for a minute', async () => {
    const lock = join(folder, 'lock');
    mkdirSync(lock);
    writeFileSync(join(lock, 'owner.json'), JSON.stringify({ pid: process.pid, host: 'elsewhere' }));
    const longAgo = new Date(Date.now() - 120_000);
    utimesSync(lock, longAgo, longAgo);
    expect(
      await withFolderLock(
        lock,
        () => undefined,
        () => 'done',
      ),
    ).toBe('done');
  });
});

describe('a child in the foreground', () => {
  const outer = (childCode: string) => `
    import { runChild } from ${moduleUrl('run-child.mjs')};
    const { code } = await runChild(process.execPath, ['-e', ${JSON.stringify(childCode)}]);
    process.exitCode = code;`;

  const start = (childCode: string): { child: ChildProcess; output: () => string; ended: Promise<number | null> } => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', outer(childCode)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    return { child, output: () => output, ended: new Promise((done) => child.once('close', (code) => done(code))) };
  };

  it.runIf(process.platform !== 'win32').each(['SIGINT', 'SIGTERM'] as const)(
    'gets to shut down on %s',
    async (signal) => {
      const run =
        start(`process.on('${signal}', () => setTimeout(() => { console.log('closed'); process.exit(0); }, 200));
      setInterval(() => {}, 1000); console.log('pid', process.pid);`);
      const pid = Number(await waitFor('the child', () => /pid (\d+)/.exec(run.output())?.[1]));
      run.child.kill(signal);
      expect(await run.ended).toBe(0);
      expect(run.output()).toContain('closed');
      expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    },
  );

  it('hands on the exit code', async () => {
    expect(await start('process.exit(7)').ended).toBe(7);
  });
});

describe('a second prepare', () => {
  it('does nothing and says nothing', async () => {
    const run = () =>
      new Promise<string>((done, fail) => {
        const script = join(root, 'scripts/prepare.mjs');
        execFile(process.execPath, [script], { encoding: 'utf8' }, (error, stdout, stderr) =>
          error ? fail(new Error(stderr)) : done(stdout + stderr),
        );
      });
    await run();
    const before = statSync(join(root, 'build/app/main/cli.js')).mtimeMs;
    expect(await run()).toBe('');
    expect(statSync(join(root, 'build/app/main/cli.js')).mtimeMs).toBe(before);
    // The first one may have all of it to build.
  }, 300_000);
});
