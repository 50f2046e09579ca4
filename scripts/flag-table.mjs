// `npm run flag-table`: writes the README's flag table; with `--check` it only says whether the table is up to date.
import './lib/check-node.mjs';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { Failure, runMain } from './lib/failure.mjs';
import { flagTable, loadFlags, withFlagTable } from './lib/flag-table.mjs';
import { root } from './lib/paths.mjs';

await runMain(async () => {
  const file = join(root, 'README.md');
  const readme = readFileSync(file, 'utf8');
  const fresh = withFlagTable(readme, flagTable(await loadFlags()));
  if (fresh === undefined) throw new Failure('README.md lacks the markers of the flag table.');
  if (process.argv.includes('--check')) {
    if (fresh !== readme) throw new Failure('The flag table in README.md is out of date: run "npm run flag-table".');
  } else if (fresh !== readme) writeFileSync(file, fresh);
  return 0;
});
