import { pageHeaders, readStaticFile } from '../../base/index.ts';
import type { Handler } from '../exchange.ts';
import { refuse } from '../replies.ts';

/** Sent with every reply, so that no reply can be read, framed or sniffed by another page. */
export const securityHeaders = pageHeaders('http');

/** Serves the built page's files. */
export function pageHandler(folder: string): Handler {
  return async (context) => {
    const path = context.req.path;
    const file = await readStaticFile(folder, path);
    if (file !== null) {
      return new Response(new Uint8Array(file.bytes), {
        headers: { 'content-type': file.contentType, 'cache-control': file.cacheControl },
      });
    }
    if (path === '/' || path === '/index.html') {
      const message = 'Dormouse is running, but its page has not been built yet. "npm start" builds it.';
      return refuse('page', { status: 503, code: 'page_missing', message });
    }
    return refuse('page', { status: 404, code: 'unknown_url', message: 'There is nothing at this address.' });
  };
}
