import { parseArgs } from 'node:util';
import {
  defaultFlagValues,
  flagNames,
  flagOf,
  flagRange,
  flags,
  parseFlagValue,
  type FlagName,
  type FlagValues,
} from './contract/index.ts';

export type Arguments =
  | {
      readonly kind: 'run';
      readonly flags: FlagValues;
      /** What the command line or the environment has set, as opposed to defaults. */
      readonly given: ReadonlySet<FlagName>;
    }
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'version' }
  /** Exit code 2. Every message names the flag, the value and what is allowed. */
  | { readonly kind: 'error'; readonly messages: readonly string[] };

/** Environment variables that set a flag where the command line must not show the value. */
const fromEnvironment: Partial<Record<FlagName, string>> = { 'api-key': 'DORMOUSE_API_KEY' };

/**
 * Reads the command line by the flag table.
 * @param argv without node and script.
 */
export function readArguments(argv: readonly string[], environment: NodeJS.ProcessEnv): Arguments {
  const messages: string[] = [];
  const values: Record<string, unknown> = { ...defaultFlagValues };
  for (const [name, variable] of Object.entries(fromEnvironment)) {
    if (environment[variable]) values[name] = environment[variable];
  }
  const given = tokenize(argv, messages);
  if (given.has('help')) return { kind: 'help', text: helpText() };
  if (given.has('version')) return { kind: 'version' };
  for (const [name, texts] of given) messages.push(...readFlag(name, texts, values));
  if (messages.length > 0) return { kind: 'error', messages };
  const named = Object.entries(fromEnvironment).flatMap(([name, variable]) => (environment[variable] ? [name] : []));
  const set = new Set([...given.keys(), ...named] as FlagName[]);
  return { kind: 'run', flags: values as FlagValues, given: set };
}

/** Groups the arguments by flag. A switch has the value null. */
function tokenize(argv: readonly string[], messages: string[]): Map<string, (string | null)[]> {
  const switches = ['help', 'version', ...flagNames.filter((name) => flagOf(name).type === 'switch')];
  const texts = flagNames.filter((name) => flagOf(name).type !== 'switch');
  const { tokens } = parseArgs({
    args: [...argv],
    strict: false,
    allowPositionals: true,
    tokens: true,
    options: {
      ...Object.fromEntries(switches.map((name) => [name, { type: 'boolean' } as const])),
      ...Object.fromEntries(texts.map((name) => [name, { type: 'string' } as const])),
      help: { type: 'boolean', short: 'h' },
    },
  });
  const given = new Map<string, (string | null)[]>();
  for (const token of tokens) {
    if (token.kind === 'positional' && /\.gguf$/i.test(token.value)) {
      // A file that was double-clicked or dropped on the program comes this way.
      given.set('model', [...(given.get('model') ?? []), token.value]);
      continue;
    }
    if (token.kind === 'positional') messages.push(`"${token.value}" is not a flag. Flags begin with --; see --help.`);
    if (token.kind !== 'option') continue;
    if (!switches.includes(token.name) && !(texts as string[]).includes(token.name)) {
      messages.push(`Unknown flag ${token.rawName}.${suggestion(token.name)} See --help.`);
    } else given.set(token.name, [...(given.get(token.name) ?? []), token.value ?? null]);
  }
  return given;
}

/** @returns what is wrong with the flag; writes its value when nothing is. */
function readFlag(name: string, texts: readonly (string | null)[], values: Record<string, unknown>): string[] {
  const flagName = name as FlagName;
  const flag = flagOf(flagName);
  if (flag.planned) return [`--${name} is planned, but this version does not have it yet.`];
  if (flag.type === 'switch') {
    values[name] = true;
    return texts.some((text) => text !== null) ? [`--${name} takes no value.`] : [];
  }
  if (flag.type !== 'list' && texts.length > 1) return [`--${name} is given ${texts.length} times.`];
  const read: (string | number)[] = [];
  for (const text of texts) {
    if (text === null) return [`--${name} needs a value: ${flagRange(flag)}.`];
    const parsed = parseFlagValue(flagName, text);
    if (!parsed.ok) return [`${parsed.error.message}.`];
    read.push(parsed.value);
  }
  values[name] = flag.type === 'list' ? read : read[0];
  return [];
}

function suggestion(name: string): string {
  const near = flagNames.find((each) => each.startsWith(name) || name.startsWith(each) || distance(each, name) <= 2);
  return near === undefined ? '' : ` Did you mean --${near}?`;
}

/** Edits (insert, delete, replace) that turn one word into the other: Levenshtein's distance, row by row. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, left] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, right] of [...b].entries()) {
      next.push(Math.min((next[j] ?? 0) + 1, (row[j + 1] ?? 0) + 1, (row[j] ?? 0) + (left === right ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

const groupTitles = {
  start: 'Start',
  server: 'Server',
  model: 'Model',
  placement: 'Placement',
  pool: 'Threads and expert pool',
  speculation: 'Speculative decoding',
  sampling: 'Sampling (defaults for chats and API calls that say nothing)',
  sleep: 'Sleep',
} as const;

/** Help, from the flag table, wrapped for 80 columns. */
export function helpText(): string {
  const lines = [
    'Dormouse runs Mixture-of-Experts language models on your own PC.',
    '',
    'Usage: npm start -- [flags]   or   npm run serve -- [flags]',
  ];
  for (const [group, title] of Object.entries(groupTitles)) {
    lines.push('', `${title}:`);
    for (const name of flagNames) {
      const flag = flagOf(name);
      if (flag.group !== group || flag.where === 'panel') continue;
      const value =
        flag.type === 'switch' ? '' : flag.type === 'text' || flag.type === 'list' ? ` ${flag.placeholder}` : ' VALUE';
      lines.push(`  --${name}${value}${flag.planned ? '   (planned: not in this version)' : ''}`);
      lines.push(...wrap(`${flag.help}${allowed(name)}`, '      ', 80));
    }
  }
  lines.push('', 'Other:', '  -h, --help', '      Print this text.', '  --version', '      Print the version.');
  return lines.join('\n');
}

function allowed(name: FlagName): string {
  const flag = flags[name];
  if (flag.type !== 'number' && flag.type !== 'choice') return '';
  const byDefault = flag.default === null ? '' : ` Default: ${flag.default}.`;
  return ` Values: ${flagRange(flag)}.${byDefault}`;
}

function wrap(text: string, indent: string, width: number): string[] {
  const lines: string[] = [];
  let line = indent;
  for (const word of text.split(' ')) {
    if (line.length + word.length > width && line.trim() !== '') {
      lines.push(line.trimEnd());
      line = indent;
    }
    line += `${word} `;
  }
  return [...lines, line.trimEnd()];
}
