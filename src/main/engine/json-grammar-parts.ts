/** Pieces of GBNF, llama.cpp's grammar language, for JSON. A piece is an expression that may stand anywhere in a rule. */

/** Integers beyond this have no exact number in JavaScript and in many other readers. */
export const largestInteger = 999_999_999_999_999;

/** Repetitions written out longer than this make llama.cpp slow; longer ones go in whole pieces. */
const longestRun = 256;
const piece = 128;

/** Rules that the pieces below refer to. */
export const commonRules: readonly string[] = [
  'sp ::= " "?',
  'char ::= [^"\\\\\\x00-\\x1f\\x7f] | "\\\\" ["\\\\/bfnrt]',
  `piece ::= char{${piece}}`,
  `integer ::= "0" | "-"? [1-9] [0-9]{0,14}`,
  'number ::= "-"? ("0" | [1-9] [0-9]{0,14}) ("." [0-9]{1,12})? ([eE] [-+]? [0-9]{1,2})?',
  'day ::= ("0" [13578] | "1" [02]) "-" ("0" [1-9] | [12] [0-9] | "3" [01]) | ("0" [469] | "11") "-" ("0" [1-9] | [12] [0-9] | "30") | "02-" ("0" [1-9] | "1" [0-9] | "2" [0-8])',
  'date ::= [0-9]{4} "-" day',
  'clock ::= ([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9]',
  'time ::= clock ":" [0-5] [0-9] ("." [0-9]{1,3})? ("Z" | [-+] clock)',
  'hex4 ::= [0-9a-f]{4}',
];

/** String formats that a grammar can hold, as what stands between the quotes, with their greatest length. */
export const stringFormats: Readonly<Record<string, { readonly piece: string; readonly longest: number }>> = {
  date: { piece: 'date', longest: 10 },
  time: { piece: 'time', longest: 18 },
  'date-time': { piece: 'date "T" time', longest: 29 },
  uuid: { piece: 'hex4 hex4 "-" hex4 "-" hex4 "-" hex4 "-" hex4 hex4 hex4', longest: 36 },
};

/** Longest `integer` and `number` in characters. */
export const longestInteger = 16;
export const longestNumber = 33;

/** Exactly this text. */
export function literal(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`;
}

/** A JSON string of `min` to at most `max` characters; a few fewer than `max` where it is long. */
export function stringOf(min: number, max: number): string {
  return `"\\"" ${characters(min, max)} "\\""`;
}

function characters(min: number, max: number): string {
  if (max <= longestRun) return max === 0 ? '' : `char{${min},${max}}`;
  const needed = [repeated('piece', Math.floor(min / piece)), repeated('char', min % piece)];
  const free = max - min;
  if (free <= longestRun) return [...needed, free === 0 ? '' : `char{0,${free}}`].join(' ');
  return [...needed, `piece{0,${Math.floor((free + 1) / piece) - 1}}`, `char{0,${piece - 1}}`].join(' ');
}

function repeated(rule: string, times: number): string {
  return times === 0 ? '' : `${rule}{${times}}`;
}

/** Items of a list with commas between: `min` to `max` times `item`. @param max at least 1. */
export function listOf(item: string, min: number, max: number): string {
  const more = max === 1 ? '' : ` ("," sp ${item}){${Math.max(0, min - 1)},${max - 1}}`;
  return min === 0 ? `(${item}${more})?` : `${item}${more}`;
}

/** All integers from `low` to `high`, both included. null: there is none. */
export function integersBetween(low: number, high: number): string | null {
  if (low > high) return null;
  const parts: string[] = [];
  if (low < 0) parts.push(`"-" ${naturalsBetween(Math.max(1, -high), -low)}`);
  if (high >= 0) parts.push(naturalsBetween(Math.max(0, low), high));
  return `(${parts.join(' | ')})`;
}

/**
 * The integers of `whole`, and fractions that lie between two integers of `around`.
 * @returns null where there is neither.
 */
export function numbersBetween(
  whole: readonly [low: number, high: number],
  around: readonly [low: number, high: number],
): string | null {
  const integers = integersBetween(...whole);
  const parts = integers === null ? [] : [integers];
  // Ends in a digit other than 0: strictly between two integers.
  const fraction = '"." [0-9]{0,8} [1-9]';
  const [low, high] = around;
  if (high > 0 && Math.max(0, low) < high) parts.push(`${naturalsBetween(Math.max(0, low), high - 1)} ${fraction}`);
  if (low < 0 && Math.max(0, -high) < -low)
    parts.push(`"-" ${naturalsBetween(Math.max(0, -high), -low - 1)} ${fraction}`);
  return parts.length === 0 ? null : `(${parts.join(' | ')})`;
}

/** @param low 0 or more. */
function naturalsBetween(low: number, high: number): string {
  const parts: string[] = [];
  for (let digits = String(low).length; digits <= String(high).length; digits++) {
    const first = digits === 1 ? 0 : 10 ** (digits - 1);
    parts.push(sameLength(String(Math.max(low, first)), String(Math.min(high, 10 ** digits - 1))));
  }
  return `(${parts.join(' | ')})`;
}

/** Digit texts from `low` to `high`, which are of the same length. */
function sameLength(low: string, high: string): string {
  if (low === '') return '';
  const [first, last, rest] = [Number(low[0]), Number(high[0]), low.length - 1];
  const any = rest === 0 ? '' : ` [0-9]{${rest}}`;
  const [lowRest, highRest] = [low.slice(1), high.slice(1)];
  if (first === last) return `"${first}" ${sameLength(lowRest, highRest)}`.trim();
  const parts: string[] = [];
  const [lowWhole, highWhole] = [/^0*$/.test(lowRest), /^9*$/.test(highRest)];
  const [from, to] = [lowWhole ? first : first + 1, highWhole ? last : last - 1];
  if (!lowWhole) parts.push(`"${first}" ${sameLength(lowRest, '9'.repeat(rest))}`);
  if (from <= to) parts.push(`[${from}-${to}]${any}`);
  if (!highWhole) parts.push(`"${last}" ${sameLength('0'.repeat(rest), highRest)}`);
  return `(${parts.join(' | ')})`;
}
