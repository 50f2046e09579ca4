import { openApiDocument } from '../openapi.ts';
import { jsonReply } from '../replies.ts';
import type { Route } from '../router.ts';

/** `GET /openapi.json`, made when it is first asked for. */
export function openApiRoutes(version: string): readonly Route[] {
  let document: ReturnType<typeof openApiDocument> | null = null;
  const handler = () => jsonReply((document ??= openApiDocument(version)));
  return [{ method: 'GET', path: '/openapi.json', area: 'api', handler }];
}
