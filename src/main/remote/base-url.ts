import { fail, ok, type Result } from '../contract/index.ts';

/**
 * What a person pastes, as a base URL without a slash at its end: the address alone gets `/v1`, and the path of one
 * route is taken back to its base. User names, queries and fragments are refused: they would be lost or leak.
 */
export function normalBaseUrl(text: string): Result<string> {
  const trimmed = text.trim();
  const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) ? trimmed : `http://${trimmed}`;
  const url = URL.canParse(withScheme) ? new URL(withScheme) : null;
  const example = 'Enter an address such as http://192.168.1.20:8000/v1.';
  if (url === null || url.hostname === '') return fail('remote_invalid', 'This is not an address.', example);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return fail('remote_invalid', 'Only http:// and https:// addresses can be used.', example);
  }
  if (url.username !== '' || url.password !== '') {
    return fail('remote_invalid', 'The address holds a user name or password.', 'Put the key into the field for it.');
  }
  if (url.search !== '' || url.hash !== '') {
    return fail('remote_invalid', 'The address holds a question mark or a #, which cannot be used.', example);
  }
  const path = url.pathname.replace(/\/+$/, '').replace(/\/(?:chat\/completions|completions|models|embeddings)$/, '');
  return ok(`${url.origin}${path === '' ? '/v1' : path}`);
}
