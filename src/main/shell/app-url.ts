/** The page's own scheme: a real origin that no web page and no file can have. */
export const appScheme = 'app';
export const appHost = 'dormouse';
export const appUrl = `${appScheme}://${appHost}/`;
/** Shown after the window broke twice. Not a file: it must not depend on what has just broken. */
export const brokenPath = '/broken';

/** Whether a URL is of our own page. Compared by parts: `app://dormouse.evil/` begins the same. */
export function isAppUrl(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, host, username, password } = new URL(url);
  return protocol === `${appScheme}:` && host === appHost && username === '' && password === '';
}
