import { median, quartiles } from '../statistics.mjs';

const units = { load: 's', idle: 'cores', decode: 'tok/s', prefill: 'tok/s', wake: 'ms', weight: 'GB/s' };
/** Idle: nearly nothing against nearly nothing says nothing. Weight bytes: decode's ratios once more. */
const withoutRatio = new Set(['idle', 'weight']);
/** Fewer say nothing about quartiles. */
const leastPairs = 3;

/** How far a ratio is from 1, the same for twice as for half. */
const distance = (ratio) => Math.max(ratio, 1 / ratio) - 1;

const kindOf = (row) => row.split(/[ ,]/)[0];

/**
 * All runs of one model, turned into rows.
 * @param runs `{ round, place, arm, values }`: `place` counts within the round, so that neighbours can be found.
 * @param expected rows that are to be there even if nothing was measured.
 */
export function makeRows(model, runs, expected) {
  const names = [...new Set([...runs.flatMap((run) => Object.keys(run.values)), ...expected])];
  return names.map((row) => makeRow(model, row, runs));
}

function makeRow(model, row, runs) {
  const having = runs.filter((run) => row in run.values);
  const unit = units[kindOf(row)];
  if (having.length === 0)
    return {
      row,
      model,
      unit,
      arms: {},
      ratio: {},
      quartiles: {},
      pairs: {},
      aa: null,
      note: 'n/a: beyond the context',
    };
  const arms = {};
  for (const arm of new Set(having.map((run) => run.arm))) {
    const values = having.filter((run) => run.arm === arm).map((run) => run.values[row]);
    arms[arm] = { median: median(values), values };
  }
  const comparisons = withoutRatio.has(kindOf(row)) ? [] : compare(row, having);
  const repeated = arms.stock?.values ?? [];
  return {
    row,
    model,
    unit,
    arms,
    ratio: Object.fromEntries(comparisons.map(({ name, ratios }) => [name, median(ratios)])),
    quartiles: Object.fromEntries(comparisons.map(({ name, ratios }) => [name, quartiles(ratios)])),
    pairs: Object.fromEntries(comparisons.map(({ name, ratios }) => [name, ratios.length])),
    aa: repeated.length < 2 ? null : median(repeated.slice(1).map((value, index) => distance(value / repeated[index]))),
  };
}

function compare(row, runs) {
  const pairsOf = (arm, base) =>
    runs
      .filter((run) => run.arm === arm)
      .flatMap((run) => {
        const near = nearest(runs, run, base);
        return near ? [run.values[row] / near.values[row]] : [];
      });
  const arms = [...new Set(runs.map((run) => run.arm))];
  const wanted = arms.filter((arm) => arm !== 'stock').map((arm) => [arm, 'stock']);
  const among = [
    ['always', '20ms'],
    ['20ms', '20ms, 1 thread'],
  ];
  return [...wanted, ...among].flatMap(([arm, base]) => {
    const ratios = pairsOf(arm, base);
    return ratios.length === 0 ? [] : [{ name: `${arm}/${base}`, ratios }];
  });
}

/** The run of `arm` in the same round that was closest in time. */
function nearest(runs, { round, place }, arm) {
  const others = runs.filter((run) => run.arm === arm && run.round === round);
  const steps = (run) => Math.abs(run.place - place);
  return others.sort((a, b) => steps(a) - steps(b))[0];
}

/** A difference is a result only beyond the A/A spread, with both quartiles on its side. */
export function verdictOf({ aa, quartiles: all, pairs }, name) {
  if (pairs[name] < leastPairs) return 'too few pairs, no result';
  const [low, middle, high] = all[name];
  if (aa === null) return 'no second stock run, no result';
  if (distance(middle) <= aa) return 'within the A/A spread, no result';
  if (low <= 1 && high >= 1) return 'quartiles on both sides of 1, no result';
  return middle > 1 ? 'more' : 'less';
}

export function number(value) {
  if (value === 0) return '0';
  return Math.abs(value) >= 100 ? value.toFixed(0) : value < 0.001 ? value.toFixed(5) : value.toPrecision(3);
}

/** Medians by arm, one line a row, then every ratio with its quartiles. */
export function printRows(title, rows) {
  const arms = [...new Set(rows.flatMap((row) => Object.keys(row.arms)))];
  const cell = (text) => String(text).padStart(11);
  console.log(`\n${title}`);
  console.log(
    `${''.padEnd(27)}${cell('unit')}${arms.map((arm) => cell(arm.replace(', 1 thread', ' 1 thr'))).join('')}`,
  );
  for (const row of rows) {
    const cells = arms.map((arm) => cell(row.arms[arm] ? number(row.arms[arm].median) : row.note ? 'n/a' : '-'));
    console.log(`${row.row.padEnd(27)}${cell(row.unit)}${cells.join('')}`);
  }
  if (rows.every((row) => Object.keys(row.ratio).length === 0)) return;
  console.log(`\n  ratios, pair by pair: lower quartile / median / upper quartile`);
  for (const row of rows) {
    const names = Object.keys(row.ratio);
    if (names.length === 0) continue;
    console.log(`  ${row.row}: ${row.aa === null ? 'no A/A spread' : `A/A spread ${(row.aa * 100).toFixed(0)} %`}`);
    for (const name of names) {
      const range = row.quartiles[name].map((quarter) => quarter.toFixed(2)).join(' / ');
      const pairs = `${row.pairs[name]} pair${row.pairs[name] === 1 ? '' : 's'}`;
      console.log(`    ${name.padEnd(22)}${range}  ${pairs.padEnd(9)}${verdictOf(row, name)}`);
    }
  }
}
