import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'vite';
import { beforeAll, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../../..');
const outDir = join(root, 'build', 'test');
const warmUp = 50;
const measured = 100;
/** Growth per cycle that our engine may have beyond node-llama-cpp alone, in bytes. */
const allowance = 20 * 1024;

beforeAll(async () => {
  await build({
    root,
    configFile: false,
    logLevel: 'warn',
    build: { ssr: 'test/support/leak-arm.ts', outDir, emptyOutDir: true, target: 'node20' },
  });
});

/** From the lowest values at both ends. One malloc arena, so that its number does not vary. */
async function growthPerCycle(arm: 'engine' | 'plain'): Promise<number> {
  const script = join(outDir, 'leak-arm.js');
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--expose-gc', script, arm, String(warmUp + measured)],
    {
      env: { ...process.env, MALLOC_ARENA_MAX: '1' },
      timeout: 240_000,
    },
  );
  const resident = JSON.parse(stdout) as number[];
  const lowest = (from: number, to: number) => Math.min(...resident.slice(from, to));
  const span = measured - 30;
  return (lowest(-30, resident.length) - lowest(warmUp, warmUp + 30)) / span;
}

it(
  'load, answer, unload grows no more than node-llama-cpp alone + 20 KB (a listener or handle kept per load)',
  { timeout: 600_000 },
  async (context) => {
    const excess: number[] = [];
    for (let round = 0; round < 3; round++) {
      const [plain, engine] = await Promise.all([growthPerCycle('plain'), growthPerCycle('engine')]);
      excess.push(engine - plain);
      if (engine - plain <= allowance) break;
    }
    await context.annotate(
      `growth beyond plain, KB per cycle: ${excess.map((bytes) => (bytes / 1024).toFixed(1)).join(', ')}`,
    );
    expect(Math.min(...excess)).toBeLessThanOrEqual(allowance);
  },
);
