// `npm run check:gpu`: loads the built-in model and a synthetic one on this machine's graphics card in all placements,
// compares what they say with the CPU, and prints a table: bytes per place, splits, speed, prefill with and without op
// offload. Under 5 minutes on a real card. `-- --gpu cuda|vulkan|metal` (auto), `-- --quick` (built-in model only),
// `-- --tokens N` (256) of the compared text, `-- --json FILE`. A software renderer counts only when it is named
// (GGML_VK_VISIBLE_DEVICES=0), and needs `--tokens 16`.
import './lib/check-node.mjs';
import { mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { bundle } from './lib/bundle.mjs';
import { compareLogits } from './lib/compare-logits.mjs';
import { Failure, runMain } from './lib/failure.mjs';
import { addonState, whyNoAddon } from './lib/native.mjs';
import { root } from './lib/paths.mjs';
import { runChild } from './lib/run-child.mjs';
import { prepareOrFail } from './prepare.mjs';

/** Largest normalised mean squared error of log-probabilities that another way of rounding may make. */
const bounds = { cpu: 1e-3, gpu: 1e-2 };
/** One process on a card takes seconds; a software renderer may take for ever. */
const runLimit = 60_000;
const noOffload = { GGML_OP_OFFLOAD_MIN_BATCH: '1000000' };

await runMain(async () => {
  await prepareOrFail();
  if (addonState() !== 'fresh') throw new Failure(whyNoAddon() ?? 'The native core is not built.');
  const gpu = valueOf('--gpu') ?? 'auto';
  const arm = await bundle('test/support/gpu-arm.ts');
  const rows = [];
  for (const model of await models()) rows.push(...(await checkModel(arm, gpu, model)));
  console.table(rows);
  const file = valueOf('--json');
  if (file !== undefined) writeFileSync(file, `${JSON.stringify({ rows }, null, 2)}\n`);
  const wrong = rows.filter(({ verdict }) => verdict !== 'ok' && !verdict.startsWith('skipped'));
  console.log(wrong.length === 0 ? 'All placements that ran are within bounds.' : `${wrong.length} rows are wrong.`);
  return wrong.length === 0 ? 0 : 1;
});

async function models() {
  const builtin = {
    name: 'built-in',
    path: join(root, 'assets', 'models', 'dormouse-mini.gguf'),
    layers: 4,
    count: tokens(),
  };
  if (process.argv.includes('--quick')) return [builtin];
  const folder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'dormouse', 'bench');
  mkdirSync(folder, { recursive: true });
  const make = await bundle('test/bench/make-model.ts');
  const result = await runChild(process.execPath, [make, 'q4_k', builtin.path, folder], { cwd: root, capture: true });
  if (result.code !== 0) throw new Failure(result.output.trim().slice(-2_000));
  const made = JSON.parse(result.output.trim().split('\n').at(-1));
  return [builtin, { name: 'synthetic', path: made.path, layers: 4, count: Math.min(64, tokens()) }];
}

async function checkModel(arm, gpu, { name, path, layers, count }) {
  const base = { model: path, count, teacherIds: 1000, gpu };
  const cpu = await run(arm, { ...base, scenario: 'teach', gpu: false, gpuLayers: 0, expertLayers: 0, batch: 8 });
  if (cpu.failed) throw new Failure(`The reference on the CPU failed: ${cpu.failed}`);
  const placements = [
    ['CPU', 0, 0],
    ['all on GPU', 999, 0],
    ['--cpu-moe', 999, 999],
    [`--n-cpu-moe ${Math.ceil(layers / 2)}`, 999, Math.ceil(layers / 2)],
    [`--gpu-layers ${Math.ceil(layers / 2)}`, Math.ceil(layers / 2), 0],
  ];
  const rows = [];
  for (const [placement, gpuLayers, expertLayers] of placements) {
    const onGpu = gpuLayers > 0;
    const options = { ...base, gpuLayers, expertLayers, ...(onGpu ? {} : { gpu: false }) };
    console.log(`${name}, ${placement}…`);
    const said = onGpu ? await run(arm, { ...options, scenario: 'teach', batch: 8 }) : cpu;
    const speedOf = (env) => run(arm, { ...options, scenario: 'speed', batch: 512, count: 2 * tokens() }, env);
    const fast = await speedOf({});
    const plain = onGpu && expertLayers > 0 ? await speedOf(noOffload) : null;
    rows.push({ model: name, placement, ...rowOf(said, fast, plain, cpu, onGpu, layers) });
  }
  return rows;
}

function rowOf(said, fast, plain, cpu, onGpu, layers) {
  if (said.failed) return { verdict: said.failed };
  const broken = [fast, plain].find((each) => each?.failed?.startsWith('wrong'));
  if (broken) return { verdict: broken.failed };
  if (onGpu && said.devices.length === 0) return { verdict: 'wrong: no graphics card; everything ran on the CPU' };
  const { nmse, wrongTops } = compareLogits(cpu.logits, said.logits);
  const fits = nmse <= (onGpu ? bounds.gpu : bounds.cpu) && wrongTops === 0;
  const few = said.cpuGraphsPerToken <= layers + 1;
  const held = !onGpu || said.memory.vram > 0;
  const mib = (bytes) => Math.round(bytes / 2 ** 20);
  return {
    backend: said.backend || 'cpu',
    'RAM MiB': mib(said.memory.ram),
    'GPU MiB': mib(said.memory.vram),
    'experts in RAM MiB': mib(said.kept.bytes),
    splits: said.splits?.replace('graph splits = ', '') ?? `${said.cpuGraphsPerToken} on CPU`,
    NMSE: nmse.toExponential(1),
    'decode tok/s': speed(fast, 'decodeTokensPerSecond'),
    'prefill tok/s': speed(fast, 'prefillTokensPerSecond'),
    'without op offload': plain === null ? '' : speed(plain, 'prefillTokensPerSecond'),
    verdict: !fits
      ? 'wrong: outputs differ'
      : !few
        ? 'wrong: too many splits'
        : !held
          ? 'wrong: device is empty'
          : 'ok',
  };
}

async function run(arm, options, environment = {}) {
  const env = { ...process.env, ...environment };
  const limits = { timeout: runLimit, killSignal: 'SIGKILL' };
  const args = [arm, JSON.stringify(options)];
  const result = await runChild(process.execPath, args, { cwd: root, capture: true, env, ...limits });
  if (result.stopped) throw new Failure('Stopped.');
  if (result.code === 0) return JSON.parse(result.output.trim().split('\n').at(-1));
  const last = result.output.trim().split('\n').at(-1)?.slice(0, 200) ?? '';
  if (result.code === 128 + 9) return { failed: `skipped: takes longer than ${runLimit / 1000} s` };
  return { failed: result.code >= 128 ? 'skipped: driver crash' : `wrong: ${last}` };
}

function tokens() {
  const asked = Number(valueOf('--tokens') ?? 256);
  if (!Number.isInteger(asked) || asked < 8) throw new Failure('--tokens: expected a whole number from 8');
  return asked;
}

function speed(run, key) {
  if (run.failed) return run.failed;
  const value = run[key];
  return value >= 100 ? Math.round(value) : Number(value.toFixed(1));
}

function valueOf(name) {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
}
