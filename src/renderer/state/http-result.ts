import type { ErrorCode, Result } from '../../main/contract/index.ts';

export function failed(code: ErrorCode, message: string, hint: string): Result<never> {
  return { ok: false, error: { code, message, hint } };
}

/** Reads a reply's envelope; a body that is none (a proxy's error page, say) becomes an error value. */
export async function readResult<T>(response: Response): Promise<Result<T>> {
  const text = await response.text();
  try {
    const value = JSON.parse(text) as unknown;
    if (typeof value === 'object' && value !== null && 'ok' in value) return value as Result<T>;
  } catch {
    // Falls through to the error below.
  }
  return failed(
    response.status === 401 ? 'session_required' : 'internal',
    `Dormouse answered with HTTP ${response.status}.`,
    'Try again. If it happens again, the log file says more.',
  );
}
