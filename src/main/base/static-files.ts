import { readFile, realpath } from 'node:fs/promises';
import path from 'node:path';

export type StaticFile = {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  readonly cacheControl: string;
};

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
  '.wasm': 'application/wasm',
};

/** `assets/index-B3xY_9aQ.js`: the name changes with the content, so a copy never grows old. */
const hashedName = /^assets\/.*-[\w-]{8,}\.\w+$/;

/**
 * Reads a file of the built page.
 * @param urlPath path of the request, still percent-encoded, without a query.
 * @returns null when there is no such file inside `folder`.
 */
export async function readStaticFile(folder: string, urlPath: string): Promise<StaticFile | null> {
  const relative = relativePath(urlPath);
  if (relative === null) return null;
  try {
    const root = await realpath(folder);
    // The real path, so that a link inside the folder cannot lead out of it either.
    const file = await realpath(path.join(root, relative));
    if (!file.startsWith(root + path.sep)) return null;
    return { bytes: await readFile(file), contentType: contentType(file), cacheControl: cacheControl(relative) };
  } catch {
    return null;
  }
}

function relativePath(urlPath: string): string | null {
  let decoded: string;
  try {
    decoded = decodeURIComponent(urlPath);
  } catch {
    return null;
  }
  const relative = decoded.replace(/^\/+/, '') || 'index.html';
  // Backslash and colon mean something in Windows paths; names that begin with a dot are nobody's page.
  if (/[\\:\0]/.test(relative)) return null;
  return relative.split('/').some((segment) => segment === '' || segment.startsWith('.')) ? null : relative;
}

function contentType(file: string): string {
  return contentTypes[path.extname(file).toLowerCase()] ?? 'application/octet-stream';
}

function cacheControl(relative: string): string {
  if (hashedName.test(relative)) return 'public, max-age=31536000, immutable';
  return relative.endsWith('.html') ? 'no-store' : 'no-cache';
}
