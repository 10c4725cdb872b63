/** Headers of a request that reach the process of a version. Each may occur once. */
const toAgent = [
  'content-type',
  'accept',
  'a2a-version',
  'a2a-extensions',
  'mcp-session-id',
  'mcp-protocol-version',
  'last-event-id',
  'origin',
] as const;
const forwarded: ReadonlySet<string> = new Set(toAgent);
/** Headers that clients may repeat; their values are joined (RFC 9110, section 5.3). */
const lists: ReadonlySet<string> = new Set(['accept', 'a2a-extensions']);

/**
 * The headers of a client that are forwarded: no header that could name a caller, an agent, a version or another host
 * (`agent-gateway:override:header`, `agent-gateway:token:original-never-passed`).
 * @param rawHeaders Node's flat list of names and values
 * @returns undefined if one of these headers is repeated
 */
export function headersForAgent(rawHeaders: readonly string[]): Record<string, string> | undefined {
  const kept: Record<string, string> = {};
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] as string).toLowerCase();
    if (!forwarded.has(name)) continue;
    const value = rawHeaders[index + 1] as string;
    const before = kept[name];
    if (before !== undefined && !lists.has(name)) return undefined;
    kept[name] = before === undefined ? value : `${before}, ${value}`;
  }
  return kept;
}

/** Headers of an answer that reach the client. */
const toClient = [
  'content-type',
  'cache-control',
  'etag',
  'last-modified',
  'mcp-session-id',
  'retry-after',
  'allow',
  'x-accel-buffering',
] as const;

/** The headers of an answer that are sent on; an address, a cookie or a name of the process is not. */
export function headersForClient(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  traceparent: string,
): Record<string, string> {
  const kept: Record<string, string> = { traceparent };
  for (const name of toClient) {
    const value = headers[name];
    if (typeof value === 'string') kept[name] = value;
  }
  const length = headers['content-length'];
  if (typeof length === 'string' && /^\d{1,10}$/.test(length)) kept['content-length'] = length;
  return kept;
}
