import { z } from 'zod';
import type { Read } from './dialect.ts';

type Issue = z.core.$ZodIssue;

/** Reads a body by its schema. @returns what is wrong first, with the path of the field. */
export function readWith<S extends z.ZodType>(schema: S, body: unknown): Read<z.output<S>> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return { ok: false, refusal: { status: 400, code: 'invalid_type', message: 'The body must be a JSON object.' } };
  }
  const parsed = schema.safeParse(body);
  if (parsed.success) return { ok: true, data: parsed.data };
  const issue = furthest(parsed.error.issues[0], []);
  const code = issue.unsupported ? 'unsupported_value' : 'invalid_value';
  return refuseField(pathText(issue.path), issue.message, code);
}

export function refuseField(
  param: string,
  message: string,
  code: 'invalid_value' | 'unsupported_value' = 'invalid_value',
): { readonly ok: false; readonly refusal: { status: number; code: string; message: string; param: string } } {
  return { ok: false, refusal: { status: 400, code, message: `${param}: ${message}`, param } };
}

/** A field that this server takes only where it changes nothing. */
export function unsupportedUnless(harmless: (value: unknown) => boolean, message: string) {
  return z
    .unknown()
    .refine((value) => value === undefined || value === null || harmless(value), {
      error: `${message} is not supported`,
      params: { unsupported: true },
    })
    .optional();
}

/** Whether a value asks for nothing: false, 0, an empty list or object. */
export function isNothing(value: unknown): boolean {
  if (value === false || value === 0 || value === '') return true;
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

type Found = { readonly path: readonly PropertyKey[]; readonly message: string; readonly unsupported: boolean };

/** Of a union, the branch that got furthest into the value is the one that was meant. */
function furthest(issue: Issue | undefined, before: readonly PropertyKey[]): Found {
  if (issue === undefined) return { path: before, message: 'not valid', unsupported: false };
  const path = [...before, ...issue.path];
  if (issue.code === 'invalid_union') {
    const inner = issue.errors
      .map((branch) => furthest(branch[0], path))
      // A branch for another `type` was never meant.
      .filter((found) => found.path.length > path.length + (found.path[path.length] === 'type' ? 1 : 0))
      .sort((a, b) => b.path.length - a.path.length)[0];
    if (inner !== undefined) return inner;
  }
  const unsupported = issue.code === 'custom' && issue.params?.['unsupported'] === true;
  return { path, message: issue.message, unsupported };
}

function pathText(path: readonly PropertyKey[]): string {
  const text = path.reduce<string>((before, key) => {
    if (typeof key === 'number') return `${before}[${key}]`;
    return before === '' ? String(key) : `${before}.${String(key)}`;
  }, '');
  return text.slice(0, 200);
}
