/** Changes to the headers of a valid check, and the answer. A list sends the header several times, null omits it. */
export type HeaderRow = readonly [
  name: string,
  changes: Readonly<Record<string, string | readonly string[] | null>>,
  status: number,
  code: string,
];

type Changes = HeaderRow[1];
const unauthenticated = (name: string, changes: Changes): HeaderRow => [name, changes, 401, 'unauthenticated'];
const untrusted = (name: string, changes: Changes): HeaderRow => [name, changes, 403, 'untrusted_context'];
const unsupported = (name: string, changes: Changes): HeaderRow => [name, changes, 415, 'unsupported_media'];
const unavailable = (name: string, changes: Changes): HeaderRow => [name, changes, 503, 'policy_unavailable'];
const good = (name: string, changes: Changes): HeaderRow => [name, changes, 200, 'policy_pass'];

const token = 'service-token-of-the-tests';
const bearer = `Bearer ${token}`;
const context = [
  'x-ap-gr-policy-id',
  'x-ap-gr-policy-revision',
  'x-ap-gr-bundle-digest',
  'x-ap-gr-content-profile',
  'x-ap-gr-response-mode',
];

const tokens: readonly HeaderRow[] = [
  unauthenticated('no Authorization', { authorization: null }),
  ...[
    '',
    ' ',
    'Bearer',
    'Bearer ',
    'bearer',
    token,
    `Basic ${token}`,
    `Token ${token}`,
    `Bearer${token}`,
    `Bearer\t${token}`,
    `Bearer ${token}x`,
    `Bearer x${token}`,
    `Bearer ${token.toUpperCase()}`,
    `Bearer "${token}"`,
    `Bearer ${token}, Bearer ${token}`,
    `Bearer ${token} ${token}`,
    `Bearer ${token};`,
    'Bearer \u00e9',
    'Bearer null',
    'Digest username="x"',
  ].map((value) => unauthenticated(`Authorization ${JSON.stringify(value)}`, { authorization: value })),
  unauthenticated('Authorization twice', { authorization: [bearer, bearer] }),
  unauthenticated('Authorization twice, the first wrong', { authorization: ['Bearer x', bearer] }),
  unauthenticated('Authorization twice, the second wrong', { authorization: [bearer, 'Bearer wrong'] }),
  unauthenticated('Authorization twice, the second empty', { authorization: [bearer, ''] }),
  unauthenticated('the token as another header', {
    authorization: null,
    'proxy-authorization': bearer,
    'x-api-key': token,
  }),
];

const contexts: readonly HeaderRow[] = context.flatMap((name) => [
  untrusted(`no ${name}`, { [name]: null }),
  untrusted(`empty ${name}`, { [name]: '' }),
  untrusted(`blank ${name}`, { [name]: ' \t ' }),
  untrusted(`${name} twice`, { [name]: ['x', 'x'] }),
  untrusted(`${name} twice, one empty`, { [name]: ['', 'x'] }),
  untrusted(`${name} three times`, { [name]: ['x', 'y', 'z'] }),
  untrusted(`${name} twice, in two spellings`, { [name]: ['x'], [name.toUpperCase()]: ['x'] }),
]);

const modes: readonly HeaderRow[] = [
  'BUFFERED',
  'Sse-Reject',
  'sse_reject',
  'sse',
  'sse-mask',
  'off',
  '1',
  'stream',
  'none',
  'true',
  'buffered;q=1',
  'buffered,sse-reject',
  '"buffered"',
  'buffered\u00a0',
].map((value) => untrusted(`mode ${JSON.stringify(value)}`, { 'x-ap-gr-response-mode': value }));

const media: readonly HeaderRow[] = [
  unsupported('no Content-Type', { 'content-type': null }),
  ...[
    '',
    'json',
    'application',
    'application/',
    '/json',
    'application/json,',
    'text/json',
    'text/plain',
    'text/html',
    'application/xml',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/event-stream',
    'application/pdf',
    'image/png',
    'application/octet-stream',
    'application/jsonp',
    'application/ld+json',
    'application/json, application/json',
    'application/json; charset=latin1',
    'application/json; charset=utf-16',
    'application/json-seq',
    'application/vnd.api+json',
    'application/problem+json',
    'application/json; charset',
    'application/json; charset=',
    'application/json; charset=utf8',
    'application/json; charset=us-ascii',
    'application/json; charset=iso-8859-1',
    'application/json; charset=utf-16le',
    "application/json; charset='utf-8'",
    'application/json; charset=utf-8; charset=utf-16',
    'application/json; version=1',
    'application/json charset=utf-8',
    'application/json; charset="utf-8',
    '*/*',
  ].map((value) => unsupported(`Content-Type ${JSON.stringify(value)}`, { 'content-type': value })),
  unsupported('Content-Type twice', { 'content-type': ['application/json', 'application/json'] }),
  unsupported('Content-Type twice, different', { 'content-type': ['application/json', 'text/plain'] }),
  unsupported('Content-Encoding twice', { 'content-encoding': ['identity', 'gzip'] }),
  ...['', 'identity', 'gzip', 'br', 'deflate', 'zstd', 'compress', 'x', 'gzip, br'].map((value) =>
    unsupported(`Content-Encoding ${JSON.stringify(value)}`, { 'content-encoding': value }),
  ),
];

const mismatches: readonly HeaderRow[] = [
  ...[
    'Policy-A',
    'policy-b',
    'policy',
    'policy-a,policy-a',
    'policy-a;',
    '"policy-a"',
    'constructor',
    '__proto__',
    '*',
    '1',
  ].map((value) => unavailable(`policy ${value}`, { 'x-ap-gr-policy-id': value })),
  ...['0', '2', '01', '1.0', '+1', '1e0', 'v1', 'latest', '١'].map((value) =>
    unavailable(`revision ${value}`, { 'x-ap-gr-policy-revision': value }),
  ),
  ...['0'.repeat(64), 'sha256:0', 'x', 'null', 'f'.repeat(63), 'f'.repeat(65)].map((value) =>
    unavailable(`digest ${value.slice(0, 12)} of ${value.length}`, { 'x-ap-gr-bundle-digest': value }),
  ),
  ...[
    'gateway-1.5.0-text-webhook-v1',
    'gateway-1.4.1-text-webhook-v1',
    'gateway-1.5.0-chat-webhook-v1',
    'GATEWAY-1.5.0-CHAT-WEBHOOK-V2',
    'default',
  ].map((value) => unavailable(`profile ${value}`, { 'x-ap-gr-content-profile': value })),
];

const fine: readonly HeaderRow[] = [
  good('the scheme in lower case', { authorization: `bearer ${token}` }),
  good('the media type in other case', { 'content-type': 'Application/JSON' }),
  good('a charset without a space', { 'content-type': 'application/json;charset="UTF-8"' }),
  good('a charset between spaces', { 'content-type': 'application/json ;  charset=utf-8' }),
  good('mode buffered', { 'x-ap-gr-response-mode': 'buffered' }),
  good('blanks around values', { 'x-ap-gr-policy-id': ' \tpolicy-a \t', 'content-type': '  application/json  ' }),
  good('a charset in quotes', { 'content-type': 'application/json; charset="UTF-8"' }),
  good('mode sse-reject', { 'x-ap-gr-response-mode': 'sse-reject' }),
  good('a traceparent that is wrong', { traceparent: 'x' }),
  good('cookies, twice', { cookie: ['a=1', 'b=2'] }),
  good('a request id, twice', { 'x-request-id': ['1', '2'] }),
  good('a traceparent', { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' }),
  good('an Accept of something else', { accept: 'image/png' }),
  good('an Idempotency-Key, twice', { 'idempotency-key': ['x', 'x'] }),
];

/** Headers of a check with a body that passes, by what they concern. */
export const headerRows = { tokens, contexts, modes, media, mismatches, fine };
