/** What the page may load and do. It brings everything along, so nothing comes from anywhere else. */
function policy(connect: "'self'" | "'none'"): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    `connect-src ${connect}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/**
 * Headers of every reply that a page gets, so that it can neither be framed nor sniffed nor reach out.
 * @param transport a page over HTTP talks to its own server; the desktop's talks through its preload script only.
 */
export function pageHeaders(transport: 'http' | 'desktop'): Readonly<Record<string, string>> {
  return {
    'content-security-policy': policy(transport === 'http' ? "'self'" : "'none'"),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  };
}
