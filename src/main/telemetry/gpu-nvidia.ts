import { spawn, type ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { Clock } from '../base/index.ts';
import type { GpuSample } from '../contract/index.ts';
import type { GpuSource } from './gpu.ts';

const query = 'index,name,utilization.gpu,memory.used,memory.total,power.draw,temperature.gpu';
const commandLine = [`--query-gpu=${query}`, '--format=csv,noheader,nounits', '-l', '1'];
/** Without a line for this long it hangs, in ms. */
const patience = 10_000;
/** After an end that nobody asked for it is tried again this much later, in ms. */
const retryAfter = 30_000;
/** A card without a line for this long is gone, in ms. */
const staleAfter = 5_000;
/** Longest line that is still read; a longer one is no row of figures. */
const longestLine = 1000;
const mebibyte = 1024 * 1024;

export type NvidiaOptions = {
  readonly clock: Clock;
  /** Program and arguments before the query. */
  readonly command?: readonly [string, ...string[]];
};

/** NVIDIA cards through one long-lived `nvidia-smi`, which runs from `start` to `stop` and not longer. */
export class NvidiaGpus implements GpuSource {
  readonly #clock: Clock;
  readonly #command: readonly [string, ...string[]];
  readonly #cards = new Map<number, { readonly at: number; readonly sample: GpuSample }>();
  #child: ChildProcess | null = null;
  /** The last line that was no row of figures: there it says what is wrong. */
  #said = '';
  #reason: string | null = null;
  #timer: () => void = () => undefined;
  /** Not installed: trying again would not help. */
  #absent = false;

  constructor({ clock, command = ['nvidia-smi'] }: NvidiaOptions) {
    this.#clock = clock;
    this.#command = command;
  }

  get reason(): string | null {
    return this.#reason;
  }

  /** Latest figures of each card, in the driver's order. */
  read(): GpuSample[] {
    const oldest = this.#clock.elapsed() - staleAfter;
    return [...this.#cards]
      .filter(([, { at }]) => at >= oldest)
      .sort(([a], [b]) => a - b)
      .map(([, { sample }]) => sample);
  }

  start(): void {
    if (this.#child !== null || this.#absent) return;
    const [program, ...before] = this.#command;
    const child: ChildProcess = spawn(program, [...before, ...commandLine], {
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
      // Figures with a point, and errors in the language that is quoted on.
      env: { ...process.env, LC_ALL: 'C' },
    });
    child.unref();
    this.#child = child;
    this.#said = '';
    for (const stream of [child.stdout, child.stderr]) eachLine(stream, (line) => this.#take(child, line));
    child.on('error', (error: NodeJS.ErrnoException) => this.#ended(child, error));
    // `close` and not `exit`: what it said last may come after its end.
    child.once('close', () => this.#ended(child, null));
    this.#waitForLine(child);
  }

  stop(): void {
    this.#timer();
    const child = this.#child;
    this.#child = null;
    this.#cards.clear();
    child?.kill('SIGKILL');
  }

  #waitForLine(child: ChildProcess): void {
    this.#timer();
    this.#timer = this.#clock.after(patience, () => {
      if (child !== this.#child) return;
      child.kill('SIGKILL');
      this.#over(`nvidia-smi gave no figures for ${patience / 1000} s; the driver may hang. Another try follows.`);
    });
  }

  #take(child: ChildProcess, line: string): void {
    if (child !== this.#child) return;
    const row = parseNvidiaRow(line);
    if (row === null) {
      if (line !== '') this.#said = line.slice(0, 300);
      return;
    }
    this.#reason = null;
    this.#cards.set(row.index, { at: this.#clock.elapsed(), sample: row.sample });
    this.#waitForLine(child);
  }

  #ended(child: ChildProcess, error: NodeJS.ErrnoException | null): void {
    if (child !== this.#child) return;
    if (error !== null) {
      this.#absent = error.code === 'ENOENT';
      return this.#over(
        this.#absent
          ? 'nvidia-smi, which comes with the driver of NVIDIA cards, is not installed.'
          : `nvidia-smi could not be started (${error.code ?? error.message}).`,
      );
    }
    const said = this.#said;
    this.#over(said === '' ? 'nvidia-smi ended by itself. Another try follows.' : `nvidia-smi says: ${said}`);
  }

  #over(reason: string): void {
    this.stop();
    this.#reason = reason;
    if (!this.#absent) this.#timer = this.#clock.after(retryAfter, () => this.start());
  }
}

/** Calls with each whole line. What is cut off by the end is no line: half a row would be wrong figures. */
function eachLine(stream: Readable | null, onLine: (line: string) => void): void {
  let rest = '';
  // Without memory or handles for a pipe there is no stream at all.
  stream?.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split(/\r?\n/);
    rest = (lines.pop() ?? '').slice(-longestLine);
    for (const line of lines) onLine(line.trim());
  });
}

/** @returns null for anything but a row of figures. `[N/A]`, `[Not Supported]` and their like are null. */
export function parseNvidiaRow(line: string): { readonly index: number; readonly sample: GpuSample } | null {
  const fields = line.split(',').map((field) => field.trim());
  const index = Number(fields[0]);
  if (fields.length < 7 || !/^\d+$/.test(fields[0] ?? '')) return null;
  const [utilization, used, total, power, temperature] = fields.slice(-5).map(figure);
  return {
    index,
    sample: {
      name: fields.slice(1, -5).join(', '),
      utilization: scaled(utilization, 1 / 100),
      memoryUsedBytes: scaled(used, mebibyte),
      memoryTotalBytes: scaled(total, mebibyte),
      powerWatts: scaled(power, 1),
      temperatureCelsius: scaled(temperature, 1),
    },
  };
}

function figure(text: string): number | null {
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : null;
}

function scaled(value: number | null | undefined, by: number): number | null {
  return value === null || value === undefined ? null : value * by;
}
