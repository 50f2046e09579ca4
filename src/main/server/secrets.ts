import { createHash, timingSafeEqual } from 'node:crypto';

/** Compares in constant time; hashing first makes the lengths equal. */
export function sameSecret(left: string, right: string): boolean {
  return timingSafeEqual(createHash('sha256').update(left).digest(), createHash('sha256').update(right).digest());
}

/** Key for look-ups by secret: what the time of a Map look-up tells about a hash helps nobody guess the secret. */
export function secretDigest(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}
