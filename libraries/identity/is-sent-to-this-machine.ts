import { headerValues } from '#kit/http/raw-headers';

const local = /^(?:localhost|[a-z0-9-]+(?:\.[a-z0-9-]+)*\.localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

/**
 * Whether the client sent a request to a name of this machine, by the field Host. In development mode headers name the
 * caller: a page of another site whose name resolves to 127.0.0.1 (DNS rebinding) could otherwise send them. The Host
 * of such a request is the name of that site; names under `localhost` resolve to this machine only (RFC 6761, 6.3).
 */
export function isSentToThisMachine(rawHeaders: readonly string[]): boolean {
  return headerValues(rawHeaders, 'host').every((host) => local.test(host));
}
