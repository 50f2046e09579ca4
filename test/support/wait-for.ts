/**
 * Calls `probe` until it gives a value that is neither undefined, null nor false, and gives that value back.
 * @param what names the condition in the error when `timeoutMs` have passed.
 */
export async function waitFor<T>(
  what: string,
  probe: () => T | Promise<T>,
  { timeoutMs = 60_000, everyMs = 25 }: { readonly timeoutMs?: number; readonly everyMs?: number } = {},
): Promise<Exclude<T, undefined | null | false>> {
  const deadline = performance.now() + timeoutMs;
  let lastError: unknown;
  for (;;) {
    try {
      const value = await probe();
      if (value !== undefined && value !== null && value !== false)
        return value as Exclude<T, undefined | null | false>;
      lastError = undefined;
    } catch (error) {
      lastError = error;
    }
    if (performance.now() >= deadline) {
      throw new Error(`Waited ${timeoutMs / 1000} s in vain for ${what}.`, { cause: lastError });
    }
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
