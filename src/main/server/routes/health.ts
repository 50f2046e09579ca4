import { jsonReply } from '../replies.ts';
import type { Route } from '../router.ts';

/** `service` is how another Dormouse recognises this one. */
export function healthRoutes(version: string, answering: () => boolean): readonly Route[] {
  const handler = () => {
    const on = answering();
    return jsonReply({ status: on ? 'ok' : 'off', service: 'dormouse', version }, on ? 200 : 503);
  };
  return [{ method: 'GET', path: '/health', area: 'health', handler }];
}
