import type { HttpConnectionCall } from '#contracts/connections';
import { flowConnectionLimits } from '#contracts/connections';
import { ConnectionError } from './connection-error.ts';

/** Segments of RFC 3986, section 3.3. */
const pathForm = /^\/(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2}|\/(?!\/))*$/;

/**
 * The address of a call below the base URL of its connection. A path that a server could resolve to another folder is
 * refused, even if its dots or slashes are encoded.
 * @throws ConnectionError invalid_request
 */
export function buildAddress(base: URL, { path, query }: Pick<HttpConnectionCall, 'path' | 'query'>): URL {
  const names = Object.entries(query);
  if (!pathForm.test(path) || path.startsWith('//') || leavesFolder(path)) throw new ConnectionError('invalid_request');
  if (names.length > flowConnectionLimits.queryNames) throw new ConnectionError('invalid_request');
  const folder = base.pathname.replace(/\/$/, '');
  const address = new URL(`${base.origin}${folder}${path}`);
  // The parser would have resolved segments that the check above cannot see.
  if (address.origin !== base.origin || address.pathname !== `${folder}${path}`) {
    throw new ConnectionError('invalid_request');
  }
  for (const [name, value] of names) address.searchParams.append(name, value);
  return address;
}

function leavesFolder(path: string): boolean {
  try {
    const decoded = decodeURIComponent(path);
    return /\p{Cc}/u.test(decoded) || decoded.split(/[/\\]/).some((segment) => segment === '.' || segment === '..');
  } catch {
    return true;
  }
}
