// `npm run bench`: the pool inside llama.cpp against stock node-llama-cpp, on a synthetic Mixture-of-Experts model of
// realistic shape (kept in the system's cache folder) and on the built-in one. Runs take turns, each in a process of its
// own; ratios are of neighbours. About 10 minutes; `-- --quick` 2, `-- --full` hours (9 pairs of everything).
// `--rows load,decode`, `--models q4_k`, `--arms stock,20ms`, `--pairs N`, `--threads N`, `--json FILE`.
// `-- --monitor` measures what the Monitor costs in a browser (`--seconds N`, 60).
// `-- --pool` measures the expert pool alone, without a model (`--rounds N`).
import './lib/check-node.mjs';
import { writeFileSync } from 'node:fs';
import process from 'node:process';
import { modelBench } from './lib/bench/model-bench.mjs';
import { monitorBench } from './lib/bench/monitor-bench.mjs';
import { readArguments, usage } from './lib/bench/plan.mjs';
import { runMain } from './lib/failure.mjs';
import { poolBench } from './lib/pool-bench.mjs';
import { prepareOrFail } from './prepare.mjs';

await runMain(async () => {
  const options = readArguments(process.argv.slice(2));
  if (process.argv.includes('--help')) {
    console.log(usage);
    return 0;
  }
  await prepareOrFail({ build: !options.pool });
  const bench = options.pool ? poolBench : options.monitor ? monitorBench : modelBench;
  const result = await bench(options);
  if (options.json) writeFileSync(options.json, `${JSON.stringify(result, null, 2)}\n`);
  return 0;
});
