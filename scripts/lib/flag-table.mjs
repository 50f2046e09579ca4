import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './paths.mjs';

const begin =
  '<!-- flags: made by "npm run flag-table" from src/main/contract/flags.ts -->\n<!-- prettier-ignore-start -->';
const end = '<!-- prettier-ignore-end -->\n<!-- end of flags -->';

/** Loads the flag table without a build: it imports nothing, so its types only need to be taken off. */
export async function loadFlags() {
  const { default: ts } = await import('typescript');
  const source = readFileSync(join(root, 'src/main/contract/flags.ts'), 'utf8');
  const { outputText } = ts.transpileModule(source, { compilerOptions: { module: 'ESNext', target: 'ES2022' } });
  return import(`data:text/javascript;base64,${Buffer.from(outputText).toString('base64')}`);
}

/** The flags as a Markdown table, in the order in which they are defined. */
export function flagTable({ flags, flagRange }) {
  const cell = (text) => String(text).replaceAll('|', '\\|');
  const rows = Object.entries(flags).map(([name, flag]) => {
    const planned = flag.planned ? ' *Planned.*' : '';
    const accepts = flag.type === 'switch' ? '' : flagRange(flag);
    return `| \`--${name}\` | ${cell(defaultOf(flag))} | ${cell(accepts)} | ${cell(flag.help)}${planned} |`;
  });
  return ['| Flag | Default | Accepts | Meaning |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

function defaultOf({ type, default: value }) {
  if (type === 'switch') return value ? 'on' : 'off';
  if (value === null || (Array.isArray(value) && value.length === 0)) return '';
  return value;
}

/** The README with a fresh table between its two markers; undefined when it lacks them. */
export function withFlagTable(readme, table) {
  const from = readme.indexOf(begin);
  const to = readme.indexOf(end);
  if (from < 0 || to < from) return undefined;
  return `${readme.slice(0, from + begin.length)}\n\n${table}\n\n${readme.slice(to)}`;
}
