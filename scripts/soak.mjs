// `npm run soak`: loads, answers and unloads again and again, in the app's engine and with node-llama-cpp alone, and
// compares how much memory each cycle leaves behind; then kills the app at random moments and looks whether anything
// is lost; then installs and removes the pool inside llama.cpp. `-- --cycles N` (200), `-- --kills N` (200),
// `-- --seed N` (2026), `-- --installs N` (1,000). Last, 50 loads with experts in RAM on Vulkan's software renderer.
// `-- --server` sends random clients to the built app instead, 10 minutes of them. `--seconds N` (600), `--seed N`.
// `-- --pool` runs the expert pool's stress instead: 10 million epochs, plain and with sanitizers. `--scale X` (50).
import './lib/check-node.mjs';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { bundle } from './lib/bundle.mjs';
import { Failure, runMain } from './lib/failure.mjs';
import { root } from './lib/paths.mjs';
import { addonPath, addonState, buildNativeTests, programPath, whyNoAddon } from './lib/native.mjs';
import { runChild } from './lib/run-child.mjs';
import { median } from './lib/statistics.mjs';
import { prepareOrFail } from './prepare.mjs';

/** What an engine may leave behind per cycle beyond plain node-llama-cpp, in bytes. */
const allowance = 20 * 1024;

await runMain(async () => {
  if (process.argv.includes('--pool')) return soakPool();
  if (process.argv.includes('--server')) return soakServer();
  const cycles = wholeNumber('--cycles', 200, 20);
  const kills = wholeNumber('--kills', 200, 1);
  const seed = wholeNumber('--seed', 2026, 0);
  const installs = wholeNumber('--installs', 1_000, 1);
  await prepareOrFail();
  const script = await bundle('test/support/leak-arm.ts');
  const growth = {};
  for (const arm of ['plain', 'engine']) {
    console.log(`${arm}: ${cycles} cycles…`);
    const result = await runChild(process.execPath, ['--expose-gc', script, arm, `${cycles}`], {
      cwd: root,
      capture: true,
    });
    if (result.stopped) return result.code;
    if (result.code !== 0) throw new Failure(result.output.trim());
    const resident = JSON.parse(result.output.trim().split('\n').at(-1));
    growth[arm] = growthPerCycle(resident);
    const mib = (bytes) => (bytes / 1024 / 1024).toFixed(1);
    console.log(
      `${arm}: ${mib(resident[0])} -> ${mib(resident.at(-1))} MiB, ${kib(growth[arm])} a cycle after warm-up`,
    );
  }
  const over = growth.engine - growth.plain;
  const fits = over <= allowance;
  console.log(
    `The engine leaves ${kib(over)} a cycle more than plain; allowed are ${kib(allowance)}: ${fits ? 'ok' : 'too much'}`,
  );
  console.log(`Killing the app ${kills} times…`);
  const killed = await runChild(process.execPath, [await bundle('test/support/kill-soak.ts'), `${kills}`, `${seed}`], {
    cwd: root,
  });
  if (killed.stopped) return killed.code;
  const installed = await soakInstalls(installs);
  const placed = await soakPlacements(50);
  return fits ? killed.code || installed || placed : 1;
});

/** Install, load, generate, unload, uninstall: every round has to give the same bits, and none may crash. */
async function soakInstalls(rounds) {
  if (addonState() !== 'fresh') {
    console.log(`Installing the pool: skipped: ${whyNoAddon()}`);
    return 0;
  }
  console.log(`Installing and removing the pool ${rounds} times…`);
  const options = {
    scenario: 'rounds',
    arm: 'pool',
    addon: addonPath,
    model: join(root, 'assets', 'models', 'dormouse-mini.gguf'),
    count: rounds,
    teacherIds: 0,
    flashAttention: false,
    threads: 2,
  };
  const script = await bundle('test/native/ggml/arm.ts');
  const result = await runChild(process.execPath, [script, JSON.stringify(options)], { cwd: root, capture: true });
  if (result.stopped || result.code !== 0) throw new Failure(`The pool failed: ${result.output.trim().slice(-2_000)}`);
  const { hashes, stats } = JSON.parse(result.output.trim().split('\n').at(-1));
  const fine = new Set(hashes).size === 1 && !stats.installed && stats.backends === 0;
  console.log(`${hashes.length} answers, ${new Set(hashes).size} different, ${stats.backends} backends left`);
  return fine ? 0 : 1;
}

async function soakServer() {
  const seconds = wholeNumber('--seconds', 600, 1);
  const seed = wholeNumber('--seed', 2026, 0);
  await prepareOrFail();
  const script = await bundle('test/support/server-soak.ts');
  return (await runChild(process.execPath, [script, `${seconds}`, `${seed}`], { cwd: root })).code;
}

/** Loads and unloads with the dense part on the device: every round has to place the same bytes and say the same. */
async function soakPlacements(rounds) {
  const drivers = '/usr/share/vulkan/icd.d';
  const rendered = existsSync(drivers) && readdirSync(drivers).some((file) => file.startsWith('lvp_icd'));
  if (!rendered || addonState() !== 'fresh') {
    const why = rendered ? whyNoAddon() : 'no software renderer for Vulkan (apt-get install mesa-vulkan-drivers)';
    console.log(`Experts in RAM: skipped: ${why}`);
    return 0;
  }
  console.log(`Loading ${rounds} times with experts in RAM, the rest on the software renderer…`);
  const options = {
    ...{ scenario: 'rounds', gpu: 'vulkan', gpuLayers: 99, expertLayers: 99, batch: 16, count: rounds, teacherIds: 1 },
    model: join(root, 'assets', 'models', 'dormouse-mini.gguf'),
  };
  const script = await bundle('test/support/gpu-arm.ts');
  const env = { ...process.env, GGML_VK_VISIBLE_DEVICES: '0' };
  const result = await runChild(process.execPath, [script, JSON.stringify(options)], { cwd: root, capture: true, env });
  if (result.stopped || result.code !== 0) throw new Failure(`A load failed: ${result.output.trim().slice(-2_000)}`);
  const { answers, statuses } = JSON.parse(result.output.trim().split('\n').at(-1));
  const places = new Set(statuses.map(({ placement }) => JSON.stringify([placement.ram.experts, placement.gpu])));
  console.log(`${answers.length} answers, ${new Set(answers).size} different, ${places.size} different placements`);
  return new Set(answers).size === 1 && places.size === 1 ? 0 : 1;
}

function wholeNumber(name, byDefault, least) {
  const at = process.argv.indexOf(name);
  const value = at < 0 ? byDefault : Number(process.argv[at + 1]);
  if (!Number.isInteger(value) || value < least) throw new Failure(`${name}: expected a whole number from ${least}`);
  return value;
}

/** At scale 1 the spin-0 tests run 200,000 epochs; sanitizer builds run a tenth of what the plain one does. */
async function soakPool() {
  const at = process.argv.indexOf('--scale');
  const scale = at < 0 ? 50 : Number(process.argv[at + 1]);
  if (!(scale > 0)) throw new Failure('--scale: expected a number above 0');
  await prepareOrFail({ build: false });
  for (const preset of ['release', 'tsan', 'asan']) {
    await buildNativeTests(preset);
    const DORMOUSE_TEST_SCALE = String(preset === 'release' ? scale : scale / 10);
    console.log(`${preset}, scale ${DORMOUSE_TEST_SCALE}`);
    const env = { ...process.env, DORMOUSE_TEST_SCALE };
    const { code } = await runChild(programPath(preset, 'test-stress'), [], { cwd: root, env });
    if (code !== 0) return code;
  }
  return 0;
}

function kib(bytes) {
  return `${(bytes / 1024).toFixed(1)} KiB`;
}

/** Growth between the first and the last ten cycles after warm-up, by medians, so that one odd reading does not count. */
function growthPerCycle(resident) {
  const warm = resident.slice(Math.min(50, Math.floor(resident.length / 4)));
  const window = Math.min(10, Math.floor(warm.length / 3));
  return (median(warm.slice(-window)) - median(warm.slice(0, window))) / (warm.length - window);
}
