import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GpuSample } from '../contract/index.ts';
import type { GpuSource } from './gpu.ts';

const amdVendor = '0x1002';

/** AMD cards as the Linux kernel's driver tells them, in files. */
export class AmdGpus implements GpuSource {
  readonly #root: string;
  #devices: readonly { readonly card: string; readonly path: string }[] = [];

  /** @param root folder of the graphics cards. */
  constructor(root = '/sys/class/drm') {
    this.#root = root;
  }

  /** null: why there is none is no news on a machine without one. */
  readonly reason = null;

  start(): void {
    this.#devices = namesIn(this.#root)
      .filter((name) => /^card\d+$/.test(name))
      .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
      .map((card) => ({ card, path: join(this.#root, card, 'device') }))
      .filter(({ path }) => textOf(join(path, 'vendor')) === amdVendor);
  }

  stop(): void {
    this.#devices = [];
  }

  read(): GpuSample[] {
    return this.#devices.map(({ card, path }) => readCard(card, path));
  }
}

function readCard(card: string, path: string): GpuSample {
  const name = textOf(join(path, 'product_name')) || `AMD graphics (${card})`;
  const nothing = { memoryUsedBytes: null, memoryTotalBytes: null, powerWatts: null, temperatureCelsius: null };
  // Reading any of the others would wake a card that is switched off.
  if (textOf(join(path, 'power', 'runtime_status')) === 'suspended') return { name, utilization: 0, ...nothing };
  const sensors = join(path, 'hwmon', namesIn(join(path, 'hwmon'))[0] ?? '');
  return {
    name,
    utilization: figure(join(path, 'gpu_busy_percent'), 1 / 100),
    memoryUsedBytes: figure(join(path, 'mem_info_vram_used'), 1),
    memoryTotalBytes: figure(join(path, 'mem_info_vram_total'), 1),
    // Microwatts; newer cards call it input, older ones average.
    powerWatts: figure(join(sensors, 'power1_average'), 1e-6) ?? figure(join(sensors, 'power1_input'), 1e-6),
    temperatureCelsius: figure(join(sensors, 'temp1_input'), 1e-3),
  };
}

function figure(path: string, by: number): number | null {
  const text = textOf(path);
  return /^-?\d+$/.test(text) ? Number(text) * by : null;
}

/** @returns '' for a file that is not there or cannot be read now. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
