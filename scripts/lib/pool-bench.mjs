import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { Failure } from './failure.mjs';
import { buildNativeTests, missingTools, programPath } from './native.mjs';
import { runChild } from './run-child.mjs';
import { median, quartiles, spread } from './statistics.mjs';

const chunkMicroseconds = 20;
const gaps = [
  { us: 0, name: '0', epochs: 2_000 },
  { us: 10, name: '10 us', epochs: 2_000 },
  { us: 1_000, name: '1 ms', epochs: 300 },
  { us: 50_000, name: '50 ms', epochs: 20 },
  { us: 1_000_000, name: '1 s', epochs: 3 },
];
/** Spin budgets of the pool, then the usual pools. */
const arms = [
  { name: 'always', args: ['--spin-us', 'always'] },
  { name: '20ms', args: ['--spin-us', '20000'] },
  { name: '2ms', args: ['--spin-us', '2000'] },
  { name: '0.1ms', args: ['--spin-us', '100'] },
  { name: '0', args: ['--spin-us', '0'] },
  { name: 'atomic-wait', args: ['--pool', 'atomic-wait'] },
  { name: 'condvar', args: ['--pool', 'condvar'] },
  { name: 'spin', args: ['--pool', 'spin'] },
];

/**
 * The pool alone, without a model: latency after idle gaps, throughput by threads, pinned or not, quiet and busy, sleep.
 * Runs take turns; ratios are of neighbours. About 5 minutes with 3 rounds.
 * @returns `{ machine, threads, autogroup, rows }` for `--json`.
 */
export async function poolBench({ rounds = 3, idleSeconds = 10 } = {}) {
  const missing = missingTools();
  if (missing.length > 0) throw new Failure(`The pool bench needs ${missing.join(', ')}.`);
  await buildNativeTests('release');
  const { unitsPerUs } = await measure('calibrate');
  const units = ['--units', String(Math.round(unitsPerUs * chunkMicroseconds))];
  const cores = cpus().length;
  const autogroup = readAutogroup();
  const machine = `${cpus()[0]?.model ?? 'unknown CPU'}, ${cores} logical cores, ${process.platform}`;
  console.log(`${machine}; sched_autogroup_enabled ${autogroup ?? 'unknown'}`);
  console.log(`chunks of ${chunkMicroseconds} us, ${rounds} rounds of everything, taking turns\n`);
  const rows = [
    ...(await latencyRows(rounds, cores, units)),
    ...(await threadRows(rounds, cores, units, '')),
    await pinningRow(rounds, cores, units),
    ...(await busyRows(rounds, cores, units, autogroup)),
    ...(await sleepRows(rounds, cores, units, idleSeconds)),
  ];
  return { machine, threads: cores, autogroup, rows };
}

async function measure(command, ...args) {
  const result = await runChild(programPath('release', 'pool-bench'), [command, ...args.map(String)], {
    capture: true,
  });
  if (result.stopped) throw Object.assign(new Failure(''), { exitCode: result.code || 130 });
  if (result.code !== 0) throw new Failure(`pool-bench ${command} ended with ${result.code}: ${result.output.trim()}`);
  return JSON.parse(result.output);
}

/** Rounds over all arms, every other one backwards, so that none always follows the same neighbour. */
async function takeTurns(rounds, list, one) {
  const values = new Map(list.map((arm) => [arm.name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const arm of round % 2 === 0 ? list : [...list].reverse()) values.get(arm.name).push(await one(arm));
  }
  return values;
}

async function latencyRows(rounds, cores, units) {
  const rows = [];
  for (const gap of gaps) {
    const results = await takeTurns(rounds, arms, (arm) =>
      measure('latency', '--threads', cores, '--gap-us', gap.us, '--epochs', gap.epochs, ...units, ...arm.args),
    );
    console.log(
      `after ${gap.name} of idleness`.padEnd(24) + 'start p50 / p99 us   done p50 / p99 / p99.9 us      cores',
    );
    for (const [name, list] of results) console.log(`  ${name.padEnd(22)}${latencyLine(list, gap.epochs)}`);
    const pick = (read) => new Map([...results].map(([name, list]) => [name, list.map(read)]));
    for (const key of ['p50', 'p99', 'p999']) {
      const named = `gap ${gap.name}: ${key}`;
      rows.push(
        row(
          `publish-to-start, ${named}`,
          'us',
          pick((result) => result.publishToStartUs?.[key] ?? null),
        ),
      );
      rows.push(
        row(
          `run-to-done, ${named}`,
          'us',
          pick((result) => result.runToDoneUs[key]),
        ),
      );
    }
    rows.push(
      row(
        `CPU, gap ${gap.name}`,
        'cores',
        pick((result) => result.cores),
      ),
    );
  }
  return rows;
}

/** A percentile needs enough values above it to be one; where all workers were benched none of them started. */
function latencyLine(list, epochs) {
  const of = (key, percentile, least) => {
    const values = list.flatMap((result) => result[key]?.[percentile] ?? []);
    return epochs * list.length < least || values.length === 0 ? 'n/a' : number(median(values));
  };
  const start = `${of('publishToStartUs', 'p50', 1)} / ${of('publishToStartUs', 'p99', 60)}`;
  const done = `${of('runToDoneUs', 'p50', 1)} / ${of('runToDoneUs', 'p99', 60)} / ${of('runToDoneUs', 'p999', 900)}`;
  return `${start.padEnd(21)}${done.padEnd(31)}${median(list.map((result) => result.cores)).toFixed(3)}`;
}

/** The pool with several numbers of threads against one thread, in one process and by turns. */
async function threadRows(rounds, cores, units, when) {
  const counts = [...new Set([1, cores, Math.ceil(cores * 1.5), cores * 2])];
  const rows = [];
  for (const threads of counts) {
    const args = ['--threads', threads, '--against', 1, '--ms', 300, '--pairs', 6 * rounds];
    const { values, against } = await measure('pair', ...args, ...units);
    const arms = new Map([
      [`${threads} threads${when}`, values],
      [`1 thread${when}`, against],
    ]);
    rows.push(printRatio(row(`layers per second${when}, ${threads} threads against 1`, '1/s', arms)));
  }
  return rows;
}

async function pinningRow(rounds, cores, units) {
  const list = [
    { name: 'pinned', pin: 1 },
    { name: 'not pinned', pin: 0 },
  ];
  const results = await takeTurns(rounds * 2, list, async ({ pin }) => {
    const result = await measure('throughput', '--threads', cores, '--pin', pin, '--ms', 700, ...units);
    return result.layersPerSecond;
  });
  return printRatio(row('layers per second, one thread per core', '1/s', results));
}

async function busyRows(rounds, cores, units, autogroup) {
  if (autogroup !== '1') {
    console.log('busy machine: skipped, as the load cannot be put into another scheduling group here');
    return [];
  }
  const load = new Load(cores);
  try {
    const rows = await threadRows(rounds, cores, units, ', busy machine');
    const pools = ['dormouse', 'atomic-wait', 'condvar', 'spin'].map((name) => ({ name }));
    const results = await takeTurns(rounds, pools, async ({ name }) => {
      const result = await measure('throughput', '--pool', name, '--threads', cores, '--ms', 1_500, ...units);
      return result.layersPerSecond;
    });
    const compared = row('layers per second, busy machine', '1/s', results);
    for (const { name } of pools)
      console.log(`  ${name.padEnd(22)}${number(compared.arms[name].median)} layers/s, busy`);
    return [...rows, compared];
  } finally {
    load.end();
  }
}

/** Another session that keeps every core busy; a session of its own is a scheduling group of its own. */
class Load {
  #children;

  constructor(cores) {
    this.#children = Array.from({ length: cores }, () =>
      spawn(programPath('release', 'pool-bench'), ['burn', '--ms', '600000'], { detached: true, stdio: 'ignore' }),
    );
    process.once('exit', this.end);
  }

  end = () => {
    for (const child of this.#children) child.kill('SIGKILL');
    process.off('exit', this.end);
  };
}

/** Without the governor: a worker that it has benched would be asleep already. */
async function sleepRows(rounds, cores, units, idleSeconds) {
  const results = [];
  for (let round = 0; round < rounds; round++) {
    const ms = round === 0 ? idleSeconds * 1_000 : 1_000;
    results.push(await measure('idle', '--threads', cores, '--govern', 0, '--ms', ms, ...units));
  }
  const asleep = row(
    'all asleep after the last job, 20 ms spin',
    'ms',
    new Map([['20ms', results.map((result) => result.asleepAfterMs)]]),
  );
  const cpu = row(
    `process CPU over ${idleSeconds} s, from 100 ms on`,
    's',
    new Map([['20ms', [results[0].cpuSeconds]]]),
  );
  console.log(
    `all workers asleep after ${results.map((result) => number(result.asleepAfterMs)).join(', ')} ms (to be within 50)`,
  );
  console.log(
    `process CPU over ${idleSeconds} s of idleness: ${results[0].cpuSeconds.toFixed(4)} s (to be below 0.01)`,
  );
  return [asleep, cpu];
}

/** @param values arm -> values, in the order of the rounds. The first arm is set against the second. */
function row(name, unit, values) {
  const [first, second] = [...values.keys()];
  const comparable =
    second !== undefined && [first, second].every((arm) => values.get(arm).every((value) => value > 0));
  const ratios = comparable ? values.get(first).map((value, index) => value / values.get(second)[index]) : [];
  return {
    row: name,
    model: 'none',
    unit,
    arms: Object.fromEntries([...values].map(([arm, list]) => [arm, { median: median(list), values: list }])),
    ratio: !comparable ? {} : { [`${first}/${second}`]: median(ratios) },
    quartiles: ratios.length === 0 ? [] : quartiles(ratios),
    aa: Math.max(...[...values.values()].map((list) => spread(list))),
  };
}

function printRatio(result) {
  const [name, ratio] = Object.entries(result.ratio)[0];
  const verdict = Math.abs(ratio - 1) <= result.aa ? 'no difference beyond the spread' : ratio > 1 ? 'more' : 'less';
  const range = result.quartiles.map((quarter) => quarter.toFixed(2)).join(' / ');
  console.log(`${name}: quartiles ${range}, same arm twice differs by ${(result.aa * 100).toFixed(0)} %: ${verdict}`);
  return result;
}

function readAutogroup() {
  const path = '/proc/sys/kernel/sched_autogroup_enabled';
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : undefined;
}

function number(value) {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
