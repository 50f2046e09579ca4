import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { engineNodeFlags } from '../../scripts/lib/node-flags.mjs';
import { linkPath, ownerHeader } from '../../src/main/contract/index.ts';
import { waitFor } from './wait-for.ts';

const root = resolve(import.meta.dirname, '../..');

export type AppOptions = {
  /** Further command line arguments, such as `--model PATH`. */
  readonly args?: readonly string[];
  /** Without a window; true when not given. */
  readonly serve?: boolean;
  /** 0, a free one, when not given. */
  readonly port?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Kept after the end when given; else a new folder that is removed. */
  readonly dataFolder?: string;
};

/** The built app as a process of its own, on a free port and with its own data folder. */
export class AppProcess {
  readonly dataFolder: string;
  readonly #ownsFolder: boolean;
  readonly #child: ChildProcess;
  readonly #exited: Promise<number>;
  #output = '';

  private constructor(options: AppOptions) {
    this.#ownsFolder = options.dataFolder === undefined;
    this.dataFolder = options.dataFolder ?? mkdtempSync(join(tmpdir(), 'dormouse-data-'));
    const cli = join(root, 'build/app/main/cli.js');
    const fixed = [
      ...(options.serve === false ? [] : ['--serve']),
      '--port',
      String(options.port ?? 0),
      '--data-dir',
      this.dataFolder,
    ];
    // A process group of its own, so that whatever it leaves behind can be seen and ended.
    this.#child = spawn(process.execPath, [...engineNodeFlags, cli, ...fixed, ...(options.args ?? [])], {
      cwd: this.dataFolder,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NODE_ENV: 'production', ...options.env },
    });
    this.#child.stdout?.on('data', (chunk: Buffer) => (this.#output += chunk.toString()));
    this.#child.stderr?.on('data', (chunk: Buffer) => (this.#output += chunk.toString()));
    this.#exited = new Promise((done) => this.#child.once('exit', (code, signal) => done(code ?? (signal ? 128 : 0))));
    process.once('exit', this.#killGroup);
  }

  /** Starts the app and waits until it has printed its address. */
  static async start(options: AppOptions = {}): Promise<AppProcess> {
    const app = new AppProcess(options);
    try {
      await waitFor('the address line', () => app.#address() ?? (app.hasExited && app.#failStart()), {
        timeoutMs: 60_000,
      });
      return app;
    } catch (error) {
      app.#killGroup();
      throw new Error(`The app did not start.\n${app.output}`, { cause: error });
    }
  }

  /** Runs the app to its end, for `--help` and for errors. No address is waited for. */
  static async runToEnd(options: AppOptions = {}): Promise<{ readonly code: number; readonly output: string }> {
    const app = new AppProcess(options);
    const code = await app.#exited;
    await app.#cleanUp();
    return { code, output: app.output };
  }

  /** stdout and stderr so far, in the order in which they came. */
  get output(): string {
    return this.#output;
  }

  get pid(): number {
    return this.#child.pid ?? -1;
  }

  get hasExited(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** The link with the one-time ticket, as printed. */
  get link(): string {
    return this.#address() ?? '';
  }

  /** Scheme, host and port, without the ticket. */
  get origin(): string {
    return new URL(this.link).origin;
  }

  /** A fresh one-time link, asked for the way a second start of the same user does. */
  async newLink(): Promise<string> {
    const lock = readFileSync(join(this.dataFolder, 'dormouse.lock'), 'utf8');
    const { token, url } = JSON.parse(lock) as { token: string; url: string };
    const reply = await fetch(new URL(linkPath, url), {
      method: 'POST',
      headers: { [ownerHeader]: token, 'content-type': 'application/json' },
      body: '{}',
    });
    return ((await reply.json()) as { data: { link: string } }).data.link;
  }

  /** Ends the app at once, as a crash or a power cut would. */
  async kill(): Promise<void> {
    await this.#cleanUp();
  }

  /** Ends the app as Ctrl-C would, and fails if it does not end by itself or leaves a process behind. */
  async stop(signal: 'SIGTERM' | 'SIGINT' = 'SIGTERM'): Promise<number> {
    if (!this.hasExited) this.#child.kill(signal);
    const slow = new Promise<'slow'>((done) => setTimeout(() => done('slow'), 60_000).unref());
    const code = await Promise.race([this.#exited, slow]);
    if (code === 'slow') {
      await this.#cleanUp();
      throw new Error(`The app was still running a minute after ${signal}.\n${this.output}`);
    }
    const left = this.#groupIsAlive();
    await this.#cleanUp();
    if (left) throw new Error('The app left a process behind.');
    return code;
  }

  #address(): string | undefined {
    return /https?:\/\/[^\s/]+:\d+\/\S*/.exec(this.#output)?.[0];
  }

  #failStart(): never {
    throw new Error(`It ended with exit code ${this.#child.exitCode ?? -1}.`);
  }

  #groupIsAlive(): boolean {
    try {
      process.kill(-this.pid, 0);
      return true;
    } catch {
      return false;
    }
  }

  readonly #killGroup = (): void => {
    try {
      process.kill(-this.pid, 'SIGKILL');
    } catch {
      // Nothing left to end.
    }
  };

  async #cleanUp(): Promise<void> {
    this.#killGroup();
    process.off('exit', this.#killGroup);
    await this.#exited;
    if (this.#ownsFolder) rmSync(this.dataFolder, { recursive: true, force: true });
  }
}
