import { added, replaced, type StrictCase, without } from './strict-case.ts';

const unreadable = { status: 400, code: 'invalid_json' } as const;

function raw(name: string, bytes: StrictCase['bytes'], status = 400, code = 'invalid_json'): StrictCase {
  return { name: `HTTP: ${name}`, bytes, status, code };
}

function line(name: string, text: string): StrictCase {
  return raw(name, ({ withLine }) => withLine(text));
}

/** Bytes in place of one header's text; for headers that no library would write. */
function splice(name: string, text: string): StrictCase {
  return raw(name, ({ withHeaders }) => {
    const right = withHeaders((headers) => headers).toString('latin1');
    return Buffer.from(right.replace('\r\n', `\r\n${text}\r\n`), 'latin1');
  });
}

function chunked(name: string, body: string): StrictCase {
  return raw(name, ({ withHeaders }) => {
    const right = withHeaders((headers) => added('transfer-encoding', 'chunked')(without('content-length')(headers)));
    const head = right.subarray(0, right.indexOf('\r\n\r\n') + 4);
    return Buffer.concat([head, Buffer.from(body, 'latin1')]);
  });
}

/** Requests that are not HTTP, or that Node would answer by itself: 400 in the error body. */
const malformed: readonly StrictCase[] = [
  line('no version', 'POST /request'),
  line('version 2', 'POST /request HTTP/2.0'),
  line('a version of letters', 'POST /request HTTP/x.y'),
  line('no path', 'POST HTTP/1.1'),
  line('a method of signs', 'P@ST /request HTTP/1.1'),
  line('a method that does not exist', 'CHECK /request HTTP/1.1'),
  line('a method in small letters', 'post /request HTTP/1.1'),
  line('a space in the path', 'POST /re quest HTTP/1.1'),
  line('a NUL in the path', 'POST /request\u0000 HTTP/1.1'),
  line('another protocol', 'POST /request GOPHER/1.1'),
  line('bytes of TLS', '\u0016\u0003\u0001\u0002\u0000'),
  splice('a header without a colon', 'x-broken'),
  splice('a header with a space in its name', 'x broken: 1'),
  splice('a header that begins with a colon', ': 1'),
  splice('a folded header', 'x-folded: 1\r\n 2'),
  splice('a NUL in a header', 'x-nul: a\u0000b'),
  splice('a bare carriage return in a header', 'x-cr: a\rb'),
  splice('headers of 64 KiB', `x-large: ${'a'.repeat(65_536)}`),
  raw('no host', ({ withHeaders }) => withHeaders(without('host'))),
  raw('content-length twice', ({ withHeaders }) => withHeaders(added('content-length', '5'))),
  raw('content-length of letters', ({ withHeaders }) => withHeaders(replaced('content-length', 'ten'))),
  raw('content-length below zero', ({ withHeaders }) => withHeaders(replaced('content-length', '-1'))),
  raw('content-length with a sign', ({ withHeaders }) => withHeaders(replaced('content-length', '+10'))),
  raw('content-length in hexadecimal', ({ withHeaders }) => withHeaders(replaced('content-length', '0x10'))),
  raw('content-length with a list', ({ withHeaders }) => withHeaders(replaced('content-length', '10, 10'))),
  raw('length and chunks', ({ withHeaders }) => withHeaders(added('transfer-encoding', 'chunked'))),
  raw('an encoding that is not chunked', ({ withHeaders }) =>
    withHeaders((headers) => added('transfer-encoding', 'gzip')(without('content-length')(headers))),
  ),
  chunked('a chunk size of letters', 'zz\r\nabc\r\n0\r\n\r\n'),
  chunked('a chunk size below zero', '-1\r\nabc\r\n0\r\n\r\n'),
  chunked('a chunk that is longer than it says', '2\r\nabc\r\n0\r\n\r\n'),
  chunked('a huge chunk size', 'fffffffffffffffff\r\nabc\r\n0\r\n\r\n'),
  raw('an expectation that does not exist', ({ withHeaders }) => withHeaders(added('expect', 'a-miracle'))),
];

/** Paths and methods that do not exist. */
function routes(): readonly StrictCase[] {
  const paths = [
    '/',
    '/v1/check',
    '/evaluate',
    '/classify',
    '/batch',
    '/dry-run',
    '/request/',
    '/Request',
    '/request/x',
    '/responses',
    '/favicon.ico',
  ];
  const methods = ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
  return [
    ...paths.map((path) => raw(`POST ${path}`, ({ withLine }) => withLine(`POST ${path} HTTP/1.1`), 404, 'not_found')),
    ...methods.flatMap((method) =>
      ['/request', '/response'].map((path) =>
        raw(`${method} ${path}`, ({ withLine }) => withLine(`${method} ${path} HTTP/1.1`), 405, 'method_not_allowed'),
      ),
    ),
    ...['/readyz', '/metrics', '/openapi.json', '/docs'].map((path) =>
      raw(`POST ${path}`, ({ withLine }) => withLine(`POST ${path} HTTP/1.1`), 405, 'method_not_allowed'),
    ),
  ];
}

/** Bodies that are too long, by what they declare and by what they are. */
function sizes(maxBodyBytes: number): readonly StrictCase[] {
  const tooLarge = { status: 413, code: 'body_too_large' } as const;
  const blob = (bytes: number): string => `{"body":"${'a'.repeat(bytes - '{"body":""}'.length)}"}`;
  return [
    { name: 'size: one byte too many', bytes: ({ withBody }) => withBody(blob(maxBodyBytes + 1)), ...tooLarge },
    { name: 'size: a MiB', bytes: ({ withBody }) => withBody(blob(1_048_576)), ...tooLarge },
    {
      name: 'size: too many bytes that are no JSON',
      bytes: ({ withBody }) => withBody('x'.repeat(maxBodyBytes + 1)),
      ...tooLarge,
    },
    {
      name: 'size: a declared length of many digits',
      bytes: ({ withHeaders }) => withHeaders(replaced('content-length', '99999999999')),
      ...tooLarge,
    },
    {
      name: 'size: one byte too many in chunks',
      bytes: ({ withHeaders }) => {
        const right = withHeaders((headers) =>
          added('transfer-encoding', 'chunked')(without('content-length')(headers)),
        );
        const body = blob(maxBodyBytes + 1);
        const chunk = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
        return Buffer.concat([right.subarray(0, right.indexOf('\r\n\r\n') + 4), Buffer.from(chunk)]);
      },
      ...tooLarge,
    },
    {
      name: 'size: the right number of bytes that are no JSON',
      bytes: ({ withBody }) => withBody('x'.repeat(maxBodyBytes)),
      ...unreadable,
    },
  ];
}

/** Faults of HTTP itself, of routes and of sizes. */
export function httpFaults(maxBodyBytes: number): readonly StrictCase[] {
  return [...malformed, ...routes(), ...sizes(maxBodyBytes)];
}
