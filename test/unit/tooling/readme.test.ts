import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { flagTable, withFlagTable } from '../../../scripts/lib/flag-table.mjs';
import { flagRange, flags } from '../../../src/main/contract/index.ts';

const root = resolve(import.meta.dirname, '../../..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');

describe('README', () => {
  it('has the flag table of the contract', () => {
    expect(withFlagTable(readme, flagTable({ flags, flagRange }))).toBe(readme);
  });

  it('names every flag', () => {
    for (const name of Object.keys(flags)) expect(readme).toContain(`\`--${name}\``);
  });

  it('names only commands that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object };
    const named = [...readme.matchAll(/npm run ([a-z:-]+)/g)].map(([, name]) => name ?? '');
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });

  it('has folder READMEs of at most eight lines', () => {
    const folders = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
    const readmes = [
      ...folders.map((name) => join('src', name)),
      'test/README.md',
      'scripts/README.md',
      'assets/README.md',
    ];
    const long = readmes
      .filter((name) => name.endsWith('README.md'))
      .filter((name) => readFileSync(join(root, name), 'utf8').trimEnd().split('\n').length > 8);
    expect(long).toEqual([]);
  });
});
