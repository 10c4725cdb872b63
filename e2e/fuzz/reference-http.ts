import { METHODS } from 'node:http';

/** One HTTP request as RFC 9112 parses it. */
export type HttpRequest = {
  readonly method: string;
  readonly target: string;
  /** Headers with lower-case names; values have no surrounding white space, and one character per byte. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly declared: number | undefined;
  /** Whether a server may also refuse the request as malformed. */
  readonly doubtful: boolean;
  /** Whether the server closes the connection after the answer. */
  readonly closes: boolean;
};

/** The next element in the bytes of a connection. */
export type Reading =
  /** A whole request. */
  | { readonly kind: 'request'; readonly request: HttpRequest; readonly body: Buffer; readonly next: number }
  /** The head is valid; the body is malformed or incomplete. */
  | { readonly kind: 'broken_body'; readonly request: HttpRequest; readonly received: number }
  /** A request that no server may process. */
  | { readonly kind: 'malformed'; readonly head: boolean }
  /** An incomplete head. */
  | { readonly kind: 'unfinished' }
  | { readonly kind: 'nothing' };

/** Maximum size of request line and headers in the runtime, in bytes; Node does not count separators. */
const maxHeadBytes = 16_384;

const framing = /^(?:content-length|transfer-encoding)$/i;
const requestLine = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+) +([!-~]+) +HTTP\/1\.[01]$/;
const field = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([\t -~\x80-\xff]*)$/;
const host = /^(?:[a-zA-Z0-9._~%!$&'()*+,;=-]*|\[[0-9a-fA-F:.]+\])(?::[0-9]{0,5})?$/;
/** Host values that every URL parser accepts; RFC 3986 allows more. */
const certainHost = /^(?:127\.0\.0\.1|[a-zA-Z][a-zA-Z.-]*|\[::1\])(?::[0-9]{1,4})?$/;

/** Parses the next request at a position in the bytes of a connection. */
export function readReferenceRequest(bytes: Buffer, from: number): Reading {
  let start = from;
  // RFC 9112, section 2.2: empty lines before a request line are ignored.
  while (bytes[start] === 0x0d || bytes[start] === 0x0a) start += 1;
  if (start >= bytes.length) return { kind: 'nothing' };
  const end = bytes.indexOf('\r\n\r\n', start, 'latin1');
  if (end < 0) return { kind: 'unfinished' };
  const text = bytes.toString('latin1', start, end);
  const counted = text.length - 4 * text.split('\r\n').length;
  const request = counted > maxHeadBytes + 256 ? undefined : readHead(text);
  if (request === undefined) return { kind: 'malformed', head: text.startsWith('HEAD ') };
  const chunked = request.headers.some(([name]) => name === 'transfer-encoding');
  return chunked ? readChunks(bytes, end + 4, request) : readLength(bytes, end + 4, request);
}

function readHead(text: string): HttpRequest | undefined {
  const [first = '', ...lines] = text.split('\r\n');
  const [, method = '', target = ''] = requestLine.exec(first) ?? [];
  if (!METHODS.includes(method) || method === 'CONNECT') return undefined;
  const headers: [string, string][] = [];
  for (const line of lines) {
    const [, name, value] = field.exec(line) ?? [];
    if (name === undefined || value === undefined) return undefined;
    headers.push([name.toLowerCase(), value.replace(/[ \t]+$/, '')]);
  }
  const valuesOf = (name: string): readonly string[] =>
    headers.flatMap(([one, value]) => (one === name ? [value] : []));
  const [only, ...more] = valuesOf('host');
  // RFC 9112, section 3.2: a request of HTTP/1.0 may have no Host.
  const named = only ?? (first.endsWith('1.0') ? '' : undefined);
  if (named === undefined || more.length > 0 || !host.test(named)) return undefined;
  const lengths = valuesOf('content-length');
  const codings = valuesOf('transfer-encoding');
  if (lengths.length + codings.length > 1) return undefined;
  if (lengths.some((value) => !/^[0-9]{1,19}$/.test(value))) return undefined;
  if (codings.some((value) => value.toLowerCase() !== 'chunked')) return undefined;
  const [expectation] = [valuesOf('expect')].flatMap((all) => (all.length > 0 ? [all.join(', ').toLowerCase()] : []));
  // RFC 9110, section 10.1.1: a server may refuse or ignore other expectations.
  if (expectation !== undefined && !/(?:^|\W)100-continue(?:$|\W)/.test(expectation)) return undefined;
  const connection = valuesOf('connection').join(', ').toLowerCase();
  return {
    method,
    target,
    headers,
    closes: first.endsWith('1.0') || /(?:^|[ ,])close(?:$|[ ,])/.test(connection) || valuesOf('upgrade').length > 0,
    declared: lengths[0] === undefined ? undefined : Number(lengths[0]),
    doubtful:
      text.length > maxHeadBytes - 32 ||
      !certainHost.test(named) ||
      (expectation ?? '100-continue') !== '100-continue' ||
      / {2}/.test(first),
  };
}

function readLength(bytes: Buffer, at: number, request: HttpRequest): Reading {
  const length = request.declared ?? 0;
  const received = bytes.length - at;
  if (length > received) return { kind: 'broken_body', request, received };
  return { kind: 'request', request, body: bytes.subarray(at, at + length), next: at + length };
}

/** A chunk size with extensions; a server ignores extensions (RFC 9112, section 7.1.1) or refuses the request. */
const chunkLine = /^([0-9a-fA-F]{1,15})(?:[ \t]*(;[\t -~\x80-\xff]*))?$/;
const plainExtension = /^(?:;a(?:=b|="b c")?)?$/;

function readChunks(bytes: Buffer, from: number, request: HttpRequest): Reading {
  const chunks: Buffer[] = [];
  const broken = (): Reading => ({
    kind: 'broken_body',
    request,
    received: chunks.reduce((sum, chunk) => sum + chunk.length, 0),
  });
  let { doubtful } = request;
  for (let at = from; ; ) {
    const end = bytes.indexOf('\r\n', at, 'latin1');
    const [, size, extension = ''] = (end < 0 ? null : chunkLine.exec(bytes.toString('latin1', at, end))) ?? [];
    if (size === undefined) return broken();
    if (!plainExtension.test(extension)) doubtful = true;
    const length = Number.parseInt(size, 16);
    if (length === 0) {
      const next = readTrailers(bytes, end + 2);
      const read = { ...request, doubtful };
      return next === undefined ? broken() : { kind: 'request', request: read, body: Buffer.concat(chunks), next };
    }
    chunks.push(bytes.subarray(end + 2, Math.min(bytes.length, end + 2 + length)));
    at = end + 2 + length;
    if (bytes.toString('latin1', at, at + 2) !== '\r\n') return broken();
    at += 2;
  }
}

/** Position of the end of the request after its trailer fields; undefined when they are malformed. */
function readTrailers(bytes: Buffer, from: number): number | undefined {
  for (let at = from; ; ) {
    const end = bytes.indexOf('\r\n', at, 'latin1');
    if (end < 0) return undefined;
    if (end === at) return at + 2;
    const [, name] = field.exec(bytes.toString('latin1', at, end)) ?? [];
    // RFC 9110, section 6.5.1: fields that frame a message are not allowed in trailers.
    if (name === undefined || framing.test(name)) return undefined;
    at = end + 2;
  }
}
