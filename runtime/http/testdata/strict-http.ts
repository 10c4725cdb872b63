/**
 * Bytes on a connection and the answer. `<head>` stands for the headers of a good check without Content-Length, `<body>`
 * for a body that passes, `<length>` for its length. `half` closes our side after the bytes. Status 0: the connection is
 * closed without an answer.
 */
type HttpRow = readonly [name: string, text: string, status: number, code: string, options?: { readonly half: true }];

const bad = (name: string, text: string): HttpRow => [name, text, 400, 'invalid_json'];
const good = (name: string, text: string): HttpRow => [name, text, 200, 'policy_pass'];
/** A whole request with a good body behind a request line and its host. */
const whole = (line: string, host = 'host: x\r\n'): string =>
  `${line}\r\n${host}<head>content-length: <length>\r\n\r\n<body>`;
const fields = (...lines: readonly string[]): string =>
  `POST /request HTTP/1.1\r\nhost: x\r\n<head>${lines.map((line) => `${line}\r\n`).join('')}\r\n<body>`;
const framed = (body: string): string =>
  `POST /request HTTP/1.1\r\nhost: x\r\n<head>transfer-encoding: chunked\r\n\r\n${body}`;
const chunked = `<size>\r\n<body>\r\n0\r\n\r\n`;

export const httpRows: readonly HttpRow[] = [
  bad('no HTTP at all', 'hello\r\n\r\n'),
  bad('binary', '\u0016\u0003\u0001\u0002\u0000\r\n\r\n'),
  bad('a method that does not exist', 'FETCH /request HTTP/1.1\r\nhost: x\r\n\r\n'),
  bad('a method in lower case', 'post /request HTTP/1.1\r\nhost: x\r\n\r\n'),
  bad('no version', 'POST /request\r\nhost: x\r\n\r\n'),
  bad('another version', 'POST /request HTTP/9.9\r\nhost: x\r\n\r\n'),
  bad('HTTP/2 without an upgrade', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  bad('another protocol', 'POST /request ICE/1.0\r\nhost: x\r\n\r\n'),
  bad('CONNECT', 'CONNECT x:443 HTTP/1.1\r\nhost: x:443\r\n\r\n'),
  bad('a target that is not a path', 'POST request HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n'),
  bad('a backslash in the path', 'POST /request\\x HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n'),
  bad('no Host', whole('POST /request HTTP/1.1', '')),
  bad('Host twice', whole('POST /request HTTP/1.1', 'host: x\r\nhost: x\r\n')),
  bad('an empty Host', whole('POST /request HTTP/1.1', 'host: \r\n')),
  bad('a Host that is not a host', whole('POST /request HTTP/1.1', 'host: a b/c\r\n')),
  bad('a header without a colon', fields('content-length: <length>', 'nonsense')),
  bad('a header name with a space', fields('content-length: <length>', 'x y: 1')),
  bad('a space before the colon', fields('content-length: <length>', 'x : 1')),
  bad('an empty header name', fields('content-length: <length>', ': 1')),
  bad('a folded header', fields('content-length: <length>', 'x: 1', ' 2')),
  bad('NUL in a header', fields('content-length: <length>', 'x: a\u0000b')),
  bad('a control character in a header', fields('content-length: <length>', 'x: a\u0001b')),
  bad('CR in a header', fields('content-length: <length>', 'x: a\rb')),
  bad('headers over 16 KiB', fields('content-length: <length>', `x: ${'a'.repeat(17_000)}`)),
  bad('a path over 16 KiB', `POST /${'a'.repeat(17_000)} HTTP/1.1\r\nhost: x\r\n\r\n`),
  bad('Content-Length twice', fields('content-length: <length>', 'content-length: <length>')),
  bad('Content-Length twice, different', fields('content-length: <length>', 'content-length: 1')),
  bad('Content-Length as a list', fields('content-length: <length>, <length>')),
  bad('a negative Content-Length', fields('content-length: -1')),
  bad('a signed Content-Length', fields('content-length: +<length>')),
  bad('a Content-Length that is not a number', fields('content-length: many')),
  bad('a Content-Length in hex', fields('content-length: 0x10')),
  bad('a Content-Length beyond every number', fields('content-length: 99999999999999999999999')),
  bad('a body framed in two ways', fields('content-length: <length>', 'transfer-encoding: chunked')),
  bad('Transfer-Encoding gzip', fields('transfer-encoding: gzip')),
  bad('Transfer-Encoding chunked, then gzip', fields('transfer-encoding: chunked, gzip')),
  bad('a chunk size that is not a number', framed('zz\r\nx\r\n0\r\n\r\n')),
  bad('a negative chunk size', framed('-1\r\nx\r\n0\r\n\r\n')),
  bad('a chunk without its end', framed('1\r\nxx\r\n0\r\n\r\n')),
  bad('a chunk size beyond every number', framed(`${'f'.repeat(17)}\r\nx\r\n`)),
  bad('an expectation that is not known', fields('content-length: <length>', 'expect: 200-ok')),
  good('a chunked body', framed(chunked)),
  [
    'a chunked body with extensions and trailers',
    framed('<size>;a=b\r\n<body>\r\n0\r\nx: y\r\n\r\n'),
    200,
    'policy_pass',
  ],
  bad('no body at all', 'POST /request HTTP/1.1\r\nhost: x\r\n<head>\r\n'),
  bad('an empty body', 'POST /request HTTP/1.1\r\nhost: x\r\n<head>content-length: 0\r\n\r\n'),
  bad('an empty chunked body', framed('0\r\n\r\n')),
  ['a declared length over the limit', fields('content-length: 2049'), 413, 'body_too_large'],
  ['a declared length far over the limit', fields('content-length: 99999999999'), 413, 'body_too_large'],
  ['a chunked body over the limit', framed(`801\r\n${' '.repeat(0x801)}\r\n0\r\n\r\n`), 413, 'body_too_large'],
  ['a chunked body over the limit that never ends', framed(`801\r\n${' '.repeat(0x801)}\r\n`), 413, 'body_too_large'],
  [
    'a wait for 100-continue with a wrong token',
    'POST /request HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 10\r\n\r\n',
    401,
    'unauthenticated',
  ],
  [
    'a wait for 100-continue with too large a body',
    'POST /request HTTP/1.1\r\nhost: x\r\n<head>expect: 100-continue\r\ncontent-length: 5000\r\n\r\n',
    413,
    'body_too_large',
  ],
  ['HTTP/1.0 without Host', whole('POST /request HTTP/1.0', ''), 400, 'invalid_json'],
  ['HTTP/1.0 with Host', whole('POST /request HTTP/1.0'), 200, 'policy_pass'],
  [
    'a body that stops coming',
    'POST /request HTTP/1.1\r\nhost: x\r\n<head>content-length: 500\r\n\r\n{"body":',
    503,
    'stage_timeout',
  ],
  bad('lines that end with LF alone', 'POST /request HTTP/1.1\nhost: x\ncontent-length: 0\n\n'),
  ['an absolute target', whole('POST http://other.example/request HTTP/1.1'), 200, 'policy_pass'],
  ['a query', whole('POST /request?x=1 HTTP/1.1'), 200, 'policy_pass'],
  ['a path in other case', whole('POST /Request HTTP/1.1'), 404, 'not_found'],
  ['a path with a slash too many', whole('POST //request HTTP/1.1'), 404, 'not_found'],
  bad('the target *', 'OPTIONS * HTTP/1.1\r\nhost: x\r\n\r\n'),
  ['another method', whole('PUT /request HTTP/1.1'), 405, 'method_not_allowed'],
  ['TRACE', 'TRACE /request HTTP/1.1\r\nhost: x\r\n\r\n', 405, 'method_not_allowed'],
  [
    'an upgrade that is not taken',
    fields('content-length: <length>', 'connection: upgrade', 'upgrade: websocket'),
    200,
    'policy_pass',
  ],
  ['our side closed after the request', fields('content-length: <length>'), 200, 'policy_pass', { half: true }],
  ['our side closed within the body', fields('content-length: 500'), 400, 'invalid_json', { half: true }],
  ['nothing', '', 0, '', { half: true }],
];
