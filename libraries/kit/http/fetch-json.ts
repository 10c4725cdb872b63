import { jsonOrUndefined } from '../json/json-or-undefined.ts';
import { readBounded } from './read-bounded.ts';

/** The result of a request for JSON. `silent`: no complete response within the timeout and size. */
type FetchedJson =
  | { readonly kind: 'response'; readonly status: number; readonly value: unknown }
  | { readonly kind: 'silent' };

type FetchJsonOptions = {
  /** The token, which is sent as a bearer token. */
  readonly token: string;
  readonly timeoutMs: number;
  /** A larger body ends the transfer. */
  readonly maxBytes: number;
};

/** GET of a JSON document, without redirects; `value` is undefined for a body that is not JSON. Never throws. */
export async function fetchJson(url: string, options: FetchJsonOptions): Promise<FetchedJson> {
  const { token, timeoutMs, maxBytes } = options;
  try {
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(timeoutMs),
      redirect: 'error',
    });
    const bytes = response.body === null ? Buffer.alloc(0) : await readBounded(response.body, maxBytes);
    if (bytes === undefined) return { kind: 'silent' };
    return { kind: 'response', status: response.status, value: jsonOrUndefined(bytes.toString('utf8')) };
  } catch {
    return { kind: 'silent' };
  }
}
