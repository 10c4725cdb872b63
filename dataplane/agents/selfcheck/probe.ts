import { type IncomingMessage, request } from 'node:http';
import { text as readText } from 'node:stream/consumers';

/** The socket of the startup check, and the key that it trusts. */
export type Probe = {
  readonly url: string;
  readonly key: string;
  readonly signal: AbortSignal;
  /** A valid file reference for an agent with files. */
  readonly reference: unknown;
};

type ProbeAnswer = { readonly status: number; readonly headers: Headers; readonly text: string };

/**
 * Sends one request to the socket. It uses the HTTP client of Node, because `fetch` allocates 17 MiB at its first call,
 * which an idle version would keep.
 * @throws if no answer arrives in time
 */
export async function ask(
  { url, key, signal }: Probe,
  path: string,
  { method = 'POST', body, headers = {} }: { method?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<ProbeAnswer> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const content = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const asked = request(`${url}${path}`, {
      method,
      signal,
      headers: {
        ...(content === undefined ? {} : { 'content-type': 'application/json', 'content-length': content.length }),
        authorization: `Bearer ${key}`,
        'a2a-version': '1.0',
        ...headers,
      },
    });
    asked.once('response', resolve).once('error', reject).end(content);
  });
  const received = new Headers(Object.entries(answer.headers).map(([name, value]) => [name, String(value)]));
  return { status: answer.statusCode ?? 0, headers: received, text: await readText(answer) };
}

/** A member of parsed JSON by its path; undefined if it is absent. */
export function memberAt(text: string, ...path: readonly (string | number)[]): unknown {
  let value: unknown = JSON.parse(text);
  for (const step of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Readonly<Record<string | number, unknown>>)[step];
  }
  return value;
}
