/** Changes to the headers of a good check, and the answer. A list sends the header several times, null not at all. */
export type HeaderRow = readonly [
  name: string,
  changes: Readonly<Record<string, string | readonly string[] | null>>,
  status: number,
  code: string,
];

const token = 'service-token-of-the-tests';
const bearer = `Bearer ${token}`;
const context = [
  'x-ap-gr-policy-id',
  'x-ap-gr-policy-revision',
  'x-ap-gr-bundle-digest',
  'x-ap-gr-content-profile',
  'x-ap-gr-response-mode',
];

const unauthenticated: readonly HeaderRow[] = [
  ['no Authorization', { authorization: null }, 401, 'unauthenticated'],
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
  ].map(
    (value): HeaderRow => [`Authorization ${JSON.stringify(value)}`, { authorization: value }, 401, 'unauthenticated'],
  ),
  ['Authorization twice', { authorization: [bearer, bearer] }, 401, 'unauthenticated'],
  ['Authorization twice, the first wrong', { authorization: ['Bearer x', bearer] }, 401, 'unauthenticated'],
  ['Authorization twice, the second empty', { authorization: [bearer, ''] }, 401, 'unauthenticated'],
  [
    'the token as another header',
    { authorization: null, 'proxy-authorization': bearer, 'x-api-key': token },
    401,
    'unauthenticated',
  ],
];

const untrusted: readonly HeaderRow[] = context.flatMap((name): HeaderRow[] => [
  [`no ${name}`, { [name]: null }, 403, 'untrusted_context'],
  [`empty ${name}`, { [name]: '' }, 403, 'untrusted_context'],
  [`blank ${name}`, { [name]: ' \t ' }, 403, 'untrusted_context'],
  [`${name} twice`, { [name]: ['x', 'x'] }, 403, 'untrusted_context'],
  [`${name} twice, one empty`, { [name]: ['', 'x'] }, 403, 'untrusted_context'],
  [`${name} three times`, { [name]: ['x', 'y', 'z'] }, 403, 'untrusted_context'],
  [`${name} in another spelling beside it`, { [name]: ['x'], [name.toUpperCase()]: ['x'] }, 403, 'untrusted_context'],
]);

const modes: readonly HeaderRow[] = [
  'BUFFERED',
  'Sse-Reject',
  'sse_reject',
  'stream',
  'none',
  'true',
  'buffered;q=1',
  'buffered,sse-reject',
  '"buffered"',
  'buffered\u00a0',
].map(
  (value): HeaderRow => [`mode ${JSON.stringify(value)}`, { 'x-ap-gr-response-mode': value }, 403, 'untrusted_context'],
);

const media: readonly HeaderRow[] = [
  ['no Content-Type', { 'content-type': null }, 415, 'unsupported_media'],
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
  ].map(
    (value): HeaderRow => [
      `Content-Type ${JSON.stringify(value)}`,
      { 'content-type': value },
      415,
      'unsupported_media',
    ],
  ),
  ['Content-Type twice', { 'content-type': ['application/json', 'application/json'] }, 415, 'unsupported_media'],
  ['Content-Type twice, different', { 'content-type': ['application/json', 'text/plain'] }, 415, 'unsupported_media'],
  ...['', 'identity', 'gzip', 'br', 'deflate', 'zstd', 'compress', 'x', 'gzip, br'].map(
    (value): HeaderRow => [
      `Content-Encoding ${JSON.stringify(value)}`,
      { 'content-encoding': value },
      415,
      'unsupported_media',
    ],
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
  ].map((value): HeaderRow => [`policy ${value}`, { 'x-ap-gr-policy-id': value }, 503, 'policy_unavailable']),
  ...['0', '2', '01', '1.0', '+1', '1e0', 'v1', 'latest', '١'].map(
    (value): HeaderRow => [`revision ${value}`, { 'x-ap-gr-policy-revision': value }, 503, 'policy_unavailable'],
  ),
  ...['0'.repeat(64), 'sha256:0', 'x', 'null', 'f'.repeat(63), 'f'.repeat(65)].map(
    (value): HeaderRow => [
      `digest ${value.slice(0, 12)} of ${value.length}`,
      { 'x-ap-gr-bundle-digest': value },
      503,
      'policy_unavailable',
    ],
  ),
  ...[
    'gateway-1.5.0-text-webhook-v1',
    'gateway-1.4.1-text-webhook-v1',
    'gateway-1.5.0-chat-webhook-v1',
    'GATEWAY-1.5.0-CHAT-WEBHOOK-V2',
    'default',
  ].map((value): HeaderRow => [`profile ${value}`, { 'x-ap-gr-content-profile': value }, 503, 'policy_unavailable']),
];

const fine: readonly HeaderRow[] = [
  ['the scheme in lower case', { authorization: `bearer ${token}` }, 200, 'policy_pass'],
  [
    'blanks around values',
    { 'x-ap-gr-policy-id': ' \tpolicy-a \t', 'content-type': '  application/json  ' },
    200,
    'policy_pass',
  ],
  ['a charset in quotes', { 'content-type': 'application/json; charset="UTF-8"' }, 200, 'policy_pass'],
  ['mode sse-reject', { 'x-ap-gr-response-mode': 'sse-reject' }, 200, 'policy_pass'],
  ['a traceparent that is wrong', { traceparent: 'x' }, 200, 'policy_pass'],
  ['cookies, twice', { cookie: ['a=1', 'b=2'] }, 200, 'policy_pass'],
  ['an Accept of something else', { accept: 'image/png' }, 200, 'policy_pass'],
  ['an Idempotency-Key, twice', { 'idempotency-key': ['x', 'x'] }, 200, 'policy_pass'],
];

/** Headers of POST /request with a body that passes. */
export const headerRows: readonly HeaderRow[] = [
  ...unauthenticated,
  ...untrusted,
  ...modes,
  ...media,
  ...mismatches,
  ...fine,
];
