import { fail, type ErrorCode, type Result } from '../contract/index.ts';

/** Longest part of a remote's own words that is passed on, in UTF-16 units. */
const longestQuote = 500;

const certificateCodes = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_HAS_EXPIRED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

/** What a failed connection means, in a sentence. @param where scheme, host and port. */
export function connectionFailure(code: string, where: string): Result<never> {
  const hint = 'Check the address, and that the server there runs.';
  if (certificateCodes.has(code)) {
    const text = `The certificate of ${where} is not one that this computer trusts (${code}).`;
    return fail(
      'remote_unreachable',
      text,
      'Give it a certificate of a known authority, or use http:// in a network you trust.',
    );
  }
  if (code.startsWith('HPE_') || code === 'ERR_INVALID_CHAR') {
    return fail('remote_failed', `What answers at ${where} does not speak HTTP.`, hint);
  }
  switch (code) {
    case 'ECONNREFUSED':
      return fail('remote_unreachable', `Nothing listens at ${where}.`, hint);
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return fail(
        'remote_unreachable',
        `There is no computer of the name in ${where} (or no name server answers).`,
        hint,
      );
    case 'EPROTO':
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
      return fail('remote_unreachable', `${where} does not speak https.`, 'Try the address with http://.');
    case 'ECONNRESET':
    case 'EPIPE':
      return fail('remote_unreachable', `${where} closed the connection without an answer.`, 'Try again.');
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return fail('remote_unreachable', `${where} cannot be reached from this computer.`, hint);
    default:
      return fail('remote_unreachable', `${where} cannot be reached (${code}).`, hint);
  }
}

/** What a status other than 200 means. @param words what the remote said itself; may be empty. */
export function statusFailure(
  status: number,
  words: string,
  headers: Readonly<Record<string, unknown>>,
): Result<never> {
  const said = words === '' ? '' : ` It says: ${quote(words)}`;
  const give = (code: ErrorCode, text: string, hint?: string) => fail(code, `${text} (HTTP ${status}).${said}`, hint);
  if (status >= 300 && status < 400) {
    const to = typeof headers['location'] === 'string' ? ` to ${quote(headers['location'])}` : '';
    return fail(
      'remote_failed',
      `The remote engine redirects${to}, which is not followed.`,
      'Enter the address that it leads to.',
    );
  }
  switch (status) {
    case 401:
    case 403:
      return give('remote_unauthorized', 'The remote engine does not accept the key', 'Check its API key.');
    case 404:
    case 405:
      return give('remote_model_not_found', 'The remote engine does not know this model or address');
    case 429: {
      const failure = give('remote_busy', 'The remote engine is busy', 'Try again in a moment.');
      const seconds = Number(headers['retry-after']);
      if (failure.ok || !Number.isFinite(seconds) || seconds < 0) return failure;
      return { ok: false, error: { ...failure.error, retryAfterSeconds: Math.min(86_400, Math.ceil(seconds)) } };
    }
    default:
      if (status >= 400 && status < 500) return give('remote_refused', 'The remote engine refuses the request');
      return give('remote_failed', 'The remote engine failed', 'Try again; if it stays, its own log says why.');
  }
}

export function timeFailure(what: string, milliseconds: number): Result<never> {
  const text = `${what} within ${Math.round(milliseconds / 1000)} s.`;
  return fail('remote_timeout', text, 'Check that the server there runs and is not stuck, then try again.');
}

export function brokenAnswer(what: string): Result<never> {
  return fail('remote_failed', what, 'What had come is kept. Try again.');
}

/** The message in an error body of OpenAI's shape and its relatives, or the body's first words. */
export function wordsOf(body: string): string {
  try {
    const parsed: unknown = JSON.parse(body);
    return messageIn(parsed) ?? '';
  } catch {
    return /<html|<!doctype/i.test(body) ? '' : body.trim();
  }
}

/** `{error: {message}}`, `{error: "..."}`, `{message}`, `{detail}`. */
export function messageIn(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return null;
  const record = value as Readonly<Record<string, unknown>>;
  for (const name of ['error', 'message', 'detail']) {
    const found = record[name] === undefined ? null : messageIn(record[name]);
    if (found !== null) return found;
  }
  return null;
}

function quote(words: string): string {
  // Control characters of somebody else's have no business on a terminal or a page.
  const clean = words.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').trim();
  return clean.length > longestQuote ? `${clean.slice(0, longestQuote)}…` : clean;
}
