/** The socket of the startup check, and the key that it trusts. */
export type Probe = {
  readonly url: string;
  readonly key: string;
  readonly signal: AbortSignal;
  /** A valid file reference for an agent with files. */
  readonly reference: unknown;
};

type ProbeAnswer = { readonly status: number; readonly headers: Headers; readonly text: string };

/** Sends one request to the socket. @throws if no answer arrives in time */
export async function ask(
  { url, key, signal }: Probe,
  path: string,
  { method = 'POST', body, headers = {} }: { method?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<ProbeAnswer> {
  const answer = await fetch(`${url}${path}`, {
    method,
    signal,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      authorization: `Bearer ${key}`,
      'a2a-version': '1.0',
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
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
