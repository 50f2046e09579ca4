const allowed = new Set(['http:', 'https:', 'mailto:']);

/** A link that may be opened, or null. Relative links are none: they would point into the app. */
export function safeHref(href: string | undefined): string | null {
  if (href === undefined || !URL.canParse(href)) return null;
  return allowed.has(new URL(href).protocol) ? href : null;
}
