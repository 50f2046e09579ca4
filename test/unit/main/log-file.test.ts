import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { openLogFile } from '../../../src/main/store/index.ts';
import { temporaryFolder } from '../../support/temp-folder.ts';

const fine = (problem: string) => {
  throw new Error(problem);
};

it('writes one line per entry, also for values with line breaks (a forged entry)', () => {
  const { logger, path } = openLogFile(temporaryFolder(), 'info', fine);
  logger.info('http', { route: '/x\n[2026] [error] forged', status: 200 });
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/\[info\] +http route="\/x.*" status=200$/);
});

it('leaves out what is below the level', () => {
  const { logger, path } = openLogFile(temporaryFolder(), 'warn', fine);
  logger.info('quiet');
  logger.debug('quieter');
  logger.warn('loud');
  expect(readFileSync(path, 'utf8')).toMatch(/loud/);
  expect(readFileSync(path, 'utf8')).not.toMatch(/quiet/);
});

it('rotates: the file stays near 1 MB and one older one is kept', () => {
  const folder = temporaryFolder();
  const { logger, path } = openLogFile(folder, 'info', fine);
  for (let line = 0; line < 3500; line++) logger.info('x'.repeat(1000));
  expect(statSync(path).size).toBeLessThan(1.1 * 1024 * 1024);
  expect(existsSync(join(folder, 'logs', 'dormouse.old.log'))).toBe(true);
});

it('tells a folder that cannot be written, and goes on without a log', () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'logs'), 'a file where the folder should be');
  const problems: string[] = [];
  const { logger } = openLogFile(folder, 'info', (problem) => problems.push(problem));
  logger.info('into the void');
  expect(problems).toHaveLength(1);
  mkdirSync(join(folder, 'other'));
});

it('tells a disk that fills up once and in words, and makes a deleted folder again (a stack trace per line before)', () => {
  const folder = temporaryFolder();
  const problems: string[] = [];
  const { logger, path } = openLogFile(folder, 'info', (problem) => problems.push(problem));
  logger.info('before');
  rmSync(join(folder, 'logs'), { recursive: true });
  const printed = vi.spyOn(console, 'error');
  logger.info('lost');
  logger.info('after');
  expect(printed).not.toHaveBeenCalled();
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(/The log cannot be written: .*ENOENT/);
  expect(readFileSync(path, 'utf8')).toContain('after');
});
