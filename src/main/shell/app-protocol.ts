import { pageHeaders, readStaticFile } from '../base/index.ts';
import { appScheme, appHost, brokenPath, isAppUrl } from './app-url.ts';
import { en } from './en.ts';
import type { ElectronModules } from './electron-faces.ts';

/** Before `ready`: gives the scheme an origin, so that storage, modules and the content security policy work. */
export function registerAppScheme({ protocol }: Pick<ElectronModules, 'protocol'>): void {
  const privileges = { standard: true, secure: true, supportFetchAPI: true };
  protocol.registerSchemesAsPrivileged([{ scheme: appScheme, privileges }]);
}

/** After `ready`: serves the built page's files, and nothing outside their folder. */
export function handleAppProtocol({ protocol }: Pick<ElectronModules, 'protocol'>, rendererFolder: string): void {
  protocol.handle(appScheme, (request) => appResponse(request, rendererFolder));
}

/** The answer to a request for `app://dormouse/...`. */
export async function appResponse(request: Request, rendererFolder: string): Promise<Response> {
  if (request.method !== 'GET' && request.method !== 'HEAD') return plain(405, 'Only GET.');
  if (!isAppUrl(request.url)) return plain(404, `There is only ${appHost}.`);
  const path = new URL(request.url).pathname;
  if (path === brokenPath) return reply(200, brokenPage, 'text/html; charset=utf-8', 'no-store');
  const file = await readStaticFile(rendererFolder, path);
  if (file === null) return plain(404, 'There is nothing at this address.');
  return reply(200, new Uint8Array(file.bytes), file.contentType, file.cacheControl);
}

function plain(status: number, text: string): Response {
  return reply(status, `${text}\n`, 'text/plain; charset=utf-8', 'no-store');
}

function reply(
  status: number,
  body: string | Uint8Array<ArrayBuffer>,
  contentType: string,
  cacheControl: string,
): Response {
  const headers = { ...pageHeaders('desktop'), 'content-type': contentType, 'cache-control': cacheControl };
  return new Response(body, { status, headers });
}

/** Without script and style: both may be what broke. */
const brokenPage = `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark">
<title>${en.appName}</title><h1>${en.windowBroken.title}</h1><p>${en.windowBroken.text}</p></html>
`;
