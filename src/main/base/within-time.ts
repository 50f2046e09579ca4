/**
 * Waits for a promise, but not for ever.
 * @param limit in ms.
 * @returns whether it settled in time. A late rejection is swallowed; an early one is passed on.
 */
export async function withinTime(promise: Promise<unknown>, limit: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => (timer = setTimeout(() => resolve(false), limit)));
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
    promise.catch(() => undefined);
  }
}
