import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, homedir, platform } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { bundle } from '../bundle.mjs';
import { Failure } from '../failure.mjs';
import { engineNodeFlags } from '../node-flags.mjs';
import { root } from '../paths.mjs';
import { runChild } from '../run-child.mjs';
import { makePlan } from './plan.mjs';
import { readBandwidth } from './read-bandwidth.mjs';
import { makeRows, number, printRows } from './rows.mjs';

const builtin = join(root, 'assets', 'models', 'dormouse-mini.gguf');
const addon = join(root, 'build', 'native', 'release', 'dormouse.node');
const childLimitMs = 600_000;
const contextOf = { q4_k: 4096, q8_0: 4096, builtin: 1024 };
const leastDistinct = 32;
/** Too long for the built-in model's context. */
const longRows = ['decode, code', 'prefill'];

/**
 * Load, idle, decode, prefill, wake and busy machine, with stock node-llama-cpp and with the pool's spin budgets.
 * @returns `{ machine, threads, autogroup, readBandwidth, rows }` for `--json`; bandwidth in bytes per second.
 */
export async function modelBench(options) {
  if (!existsSync(addon)) throw new Failure('The bench needs the expert pool, and it is not built here.');
  const threads = options.threads ?? createRequire(import.meta.url)(addon).topology().physicalCores;
  const autogroup = readAutogroup();
  const machine = `${cpus()[0]?.model ?? 'unknown CPU'}, ${cpus().length} logical cores, ${process.platform}`;
  const plan = makePlan(options);
  const scripts = { arm: await bundle('test/bench/arm.ts'), make: await bundle('test/bench/make-model.ts') };
  console.log(`${machine}; ${threads} threads; sched_autogroup_enabled ${autogroup ?? 'unknown'}`);
  const bandwidth = [await bestBandwidth(threads)];
  const rows = [];
  for (const { model, arms, rounds } of plan.models) {
    const file = await modelFile(model, scripts.make);
    const request = { ...plan.settings, addon, model: file.path, contextSize: contextOf[model], threads };
    const measure = (arm, list, changes = {}) =>
      runArm(scripts.arm, { ...request, ...changes, arm, tasks: list, busyThreads: cpus().length });
    if (rounds.output) await compareOutput(model, measure);
    const runs = [
      ...(await takeTurns(arms, rounds, measure)),
      ...(await busyRuns(rounds.busy ?? 0, threads, autogroup, measure)),
    ];
    addWeightRate(runs, file.bytesPerToken);
    const beyond = model === 'builtin' && (rounds.decode || rounds.prefill) ? longRows : [];
    const result = makeRows(model, runs, beyond);
    if (result.length > 0) printRows(titleOf(model, file), result);
    rows.push(...result);
  }
  bandwidth.push(await bestBandwidth(threads));
  printBandwidth(rows, bandwidth, threads);
  return { machine, threads, autogroup, readBandwidth: bandwidth, rows };
}

const titleOf = (model, { path, bytes }) =>
  model === 'builtin' ? 'built-in model' : `synthetic ${model.toUpperCase()}, ${(bytes / 1e9).toFixed(2)} GB, ${path}`;

/** Bytes per second; others' work can only make it less. */
async function bestBandwidth(threads) {
  const values = [];
  for (let index = 0; index < 3; index++) values.push(await readBandwidth(threads, 500));
  return Math.max(...values);
}

/** The folder in which systems keep what can be made again. */
function cacheFolder() {
  const { XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
  const base =
    XDG_CACHE_HOME ||
    (platform() === 'win32' && LOCALAPPDATA) ||
    (platform() === 'darwin' ? join(homedir(), 'Library', 'Caches') : join(homedir(), '.cache'));
  return join(base, 'dormouse', 'bench');
}

/** Makes the model if need be, and reads it once, so that it lies in the page cache. */
async function modelFile(model, script) {
  if (model === 'builtin') return { path: builtin };
  const result = await runChild(process.execPath, [script, model, builtin, cacheFolder()], {
    cwd: root,
    capture: true,
  });
  const made = lastLine(result, 'The model could not be made');
  if (made.made) console.log(`made ${made.path}, ${(made.bytes / 1e9).toFixed(2)} GB; it is kept`);
  for await (const _chunk of createReadStream(made.path, { highWaterMark: 4 * 1024 * 1024 }));
  return made;
}

async function runArm(script, request) {
  const options = { cwd: root, capture: true, timeout: childLimitMs, killSignal: 'SIGKILL' };
  const result = await runChild(process.execPath, [...engineNodeFlags, script, JSON.stringify(request)], options);
  return lastLine(result, `The arm "${request.arm}" failed`);
}

function lastLine({ code, output, stopped }, problem) {
  if (stopped) throw Object.assign(new Failure('Stopped.'), { exitCode: code });
  const line = output
    .trim()
    .split('\n')
    .findLast((text) => text.startsWith('{'));
  if (code !== 0 || line === undefined) throw new Failure(`${problem} (exit code ${code}): ${output.trim()}`);
  return JSON.parse(line);
}

/** Same bits as without the pool, and a text that does not repeat itself: else the figures would mean nothing. */
async function compareOutput(model, measure) {
  const plain = await measure('plain', ['output']);
  const pool = await measure('20ms', ['output']);
  const count = plain.ids.length;
  const same = plain.ids.findIndex((id, index) => id !== pool.ids[index]);
  const distinct = new Set(plain.ids).size;
  const bits = plain.hash === pool.hash ? 'the same bits' : 'other bits';
  console.log(
    `${model}: ${distinct} distinct ids in ${count}; pool and plain agree on ${same < 0 ? count : same} of them, ${bits} in all probabilities`,
  );
  if (same >= 0) throw new Failure(`${model}: the pool computes another text from token ${same} on.`);
  if (plain.hash !== pool.hash) throw new Failure(`${model}: the pool computes other probabilities.`);
  // The built-in model's text is what it is.
  if (model !== 'builtin' && distinct < Math.min(leastDistinct, count / 2))
    throw new Failure(`${model}: the text collapses.`);
}

async function takeTurns(arms, rounds, measure) {
  const counts = Object.entries(rounds).filter(([task]) => task !== 'busy' && task !== 'output');
  const most = Math.max(0, ...counts.map(([, times]) => times));
  const runs = [];
  for (let round = 0; round < most; round++) {
    const tasks = counts.filter(([, times]) => round < times).map(([task]) => task);
    const order = round % 2 === 0 ? arms : [...arms].reverse();
    for (const [place, arm] of order.entries()) {
      progress(`round ${round + 1} of ${most}, ${arm}: ${tasks.join(', ')}`);
      runs.push({ round, place, arm, values: (await measure(arm, tasks)).values });
    }
  }
  return runs;
}

async function busyRuns(count, threads, autogroup, measure) {
  if (count === 0) return [];
  if (autogroup !== '1') {
    console.log('busy machine: skipped, as another session is no other scheduling group here');
    return [];
  }
  const arms = [
    { arm: '20ms, 1 thread', threads: 1 },
    { arm: '20ms', threads },
    { arm: 'stock', threads },
  ].slice(threads === 1 ? 1 : 0);
  const runs = [];
  for (let round = 0; round < count; round++) {
    for (const [place, { arm, threads: own }] of (round % 2 === 0 ? arms : [...arms].reverse()).entries()) {
      progress(`busy machine, round ${round + 1} of ${count}, ${arm}`);
      const { values } = await measure(arm.split(',')[0], ['busy'], { threads: own });
      runs.push({ round, place, arm, values });
    }
  }
  return runs;
}

function addWeightRate(runs, bytesPerToken) {
  if (bytesPerToken === undefined) return;
  for (const { values } of runs) {
    const speed = values['decode, writing'];
    if (speed) values['weight bytes per second'] = (speed * bytesPerToken) / 1e9;
  }
}

function printBandwidth(rows, bandwidth, threads) {
  const [before, after] = bandwidth.map((value) => value / 1e9);
  console.log(
    `\nread bandwidth with ${threads} threads: ${number(before)} GB/s at the start, ${number(after)} GB/s at the end`,
  );
  for (const { model, arms } of rows.filter(({ row }) => row.startsWith('weight'))) {
    const shares = Object.entries(arms).map(
      ([arm, { median }]) => `${arm} ${((median / Math.max(before, after)) * 100).toFixed(0)} %`,
    );
    console.log(`  weights read by decode on ${model}, of that: ${shares.join(', ')}`);
  }
}

function readAutogroup() {
  const path = '/proc/sys/kernel/sched_autogroup_enabled';
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : undefined;
}

/** To stderr, so that the table can be kept by itself. */
function progress(text) {
  console.error(`  ${text}`);
}
