import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { root } from '../../scripts/lib/paths.mjs';
import { isOnPath } from '../support/native-programs.ts';

const execute = promisify(execFile);
const model = join(root, 'test', 'native', 'model', 'expert-pool.pml');

/** Has the model checker search all interleavings of the model. Returns its report, or the reason to skip. */
async function check(...defines: readonly string[]): Promise<{ report: string } | { skip: string }> {
  if (!isOnPath('spin')) return { skip: 'no model checker (apt-get install spin)' };
  const compiler = ['cc', 'gcc', 'g++'].find(isOnPath);
  if (compiler === undefined) return { skip: 'no C compiler (apt-get install g++)' };
  const folder = await mkdtemp(join(tmpdir(), 'dormouse-model-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const options = { cwd: folder, maxBuffer: 64 * 1024 * 1024 };
  await execute('spin', ['-a', ...defines.map((define) => `-D${define}`), model], options);
  await execute(
    compiler,
    ['-x', 'c', '-O1', '-w', '-DSAFETY', '-DCOLLAPSE', '-DMEMLIM=2000', '-o', 'pan', 'pan.c'],
    options,
  );
  const { stdout } = await execute('./pan', ['-m100000'], options);
  expect(stdout).toMatch(/errors: \d+/);
  expect(stdout, 'the search was cut short').not.toMatch(/max search depth too small|out of memory/);
  return { report: stdout };
}

for (const defines of [[], ['FIRST_PHASE=1', 'EPOCHS=2'], ['CHUNKS=2', 'FIRST_PHASE=1', 'WORKERS=1', 'EPOCHS=5']]) {
  it(`no interleaving loses or doubles a chunk or a wake-up ${defines.join(' ')}`, async ({ skip }) => {
    const result = await check(...defines);
    if ('skip' in result) return skip(result.skip);
    expect(result.report).toMatch(/errors: 0\n/);
  });
}

/** Each of these leaves out one thing that the protocol needs; a model that does not mind checks nothing. */
const refuted = [
  { define: 'UNTAGGED', what: 'assertion violated', title: 'claims without an epoch' },
  { define: 'HASTY_HOST', what: 'invalid end state', title: 'looking for sleepers before raising the epoch' },
  { define: 'HASTY_WORKER', what: 'invalid end state', title: 'going to sleep without the mutex' },
  { define: 'EAGER_GATE', what: 'assertion violated', title: 'phases that open when chunks are claimed' },
];

for (const { define, what, title } of refuted) {
  it(`the model checker refutes ${title}`, async ({ skip }) => {
    const result = await check(define);
    if ('skip' in result) return skip(result.skip);
    expect(result.report).toContain(what);
    expect(result.report).not.toMatch(/errors: 0\n/);
  });
}
