import { jsonReply } from '../replies.ts';
import type { Route } from '../router.ts';

/** `service` is how another Dormouse recognises this one. */
export function healthRoutes(version: string): readonly Route[] {
  const handler = () => jsonReply({ status: 'ok', service: 'dormouse', version });
  return [{ method: 'GET', path: '/health', area: 'health', handler }];
}
