/** A body and what it is answered with. Bytes stand for what is no text. */
export type BodyRow = readonly [name: string, body: string | readonly number[], status: number, code: string];

const bytes = (before: string, inside: readonly number[], after: string): readonly number[] => [
  ...Buffer.from(before),
  ...inside,
  ...Buffer.from(after),
];
/** The same content in a body of either stage; the text goes between the quotes of a content as it is. */
const open = '{"body":{"messages":[{"role":"user","content":"';
const close = '"}]}}';
const message = '{"role":"user","content":"x"}';
const messages = (...items: readonly string[]): string => `{"body":{"messages":[${items.join(',')}]}}`;

const invalid = (name: string, body: string | readonly number[]): BodyRow => [name, body, 400, 'invalid_json'];
const shape = (name: string, body: string): BodyRow => [name, body, 422, 'invalid_payload'];
const good = (name: string, body: string | readonly number[]): BodyRow => [name, body, 200, 'policy_pass'];

const syntax: readonly BodyRow[] = [
  '',
  ' ',
  '\n',
  '{',
  '}',
  '[',
  ']',
  '[[',
  '"',
  ':',
  ',',
  '{"body"',
  '{"body":',
  '{"body":}',
  '{"body":{}',
  '{"body":{"messages":[}}',
  '{"body":{"messages":[{]}}',
  '{body:{}}',
  "{'body':{}}",
  '{"body":{}}}',
  '{"body":{}}{}',
  '{"body":{}} x',
  '{"body":{}},',
  '{"body":{},}',
  '{,"body":{}}',
  '{"body" {}}',
  '{"body"::{}}',
  '{"body":{} "x":1}',
  '{1:{}}',
  '{null:{}}',
  '{"body":[1,]}',
  '{"body":[,1]}',
  '{"body":[1 2]}',
  '{"body":[1,,2]}',
  '{"body":tru}',
  '{"body":True}',
  '{"body":nul}',
  '{"body":None}',
  '{"body":undefined}',
  '{"body":NaN}',
  '{"body":Infinity}',
  '{"body":-Infinity}',
  '{"body":01}',
  '{"body":-01}',
  '{"body":+1}',
  '{"body":-}',
  '{"body":.5}',
  '{"body":1.}',
  '{"body":1.e5}',
  '{"body":1e}',
  '{"body":1e+}',
  '{"body":0x10}',
  '{"body":1_000}',
  '{"body":1n}',
  '// comment\n{}',
  '{"body":{}} // comment',
  '/* comment */ {}',
  '{"body":{}}\u0000',
  '\u0000{"body":{}}',
  '\ufeff{"body":{}}',
  '\u00a0{"body":{}}',
  '\u2028{"body":{}}',
  '\f{"body":{}}',
  '<body/>',
  'body=x',
  'data: {"body":{}}\n\n',
  '%PDF-1.7',
  '{"body":1e999}',
  '{"body":-1e999}',
].map((body) => invalid(`syntax ${JSON.stringify(body)}`, body));

const escapes: readonly BodyRow[] = [
  '\\',
  '\\x41',
  '\\a',
  '\\v',
  '\\0',
  "\\'",
  '\\u',
  '\\u1',
  '\\u12',
  '\\u123',
  '\\u12G4',
  '\\U0041',
  '\\u{41}',
  '\\u 041',
  '\\\n',
  '\\ud800',
  '\\udc00',
  '\\ud83d\\u0041',
  '\\ud83d',
  '\\ud83dx',
  '\\ude00\\ud83d',
  '\\ud83d\\ud83d\\ude00',
  '\\uD83D\\uDE00\\uDE00',
].map((inside) => invalid(`escape ${JSON.stringify(inside)}`, `${open}${inside}${close}`));

const controls: readonly BodyRow[] = Array.from({ length: 32 }, (_, code) =>
  invalid(`control character 0x${code.toString(16).padStart(2, '0')} in a string`, bytes(open, [code], close)),
);

const encodings: readonly BodyRow[] = (
  [
    [0x80],
    [0xbf],
    [0xc0, 0x80],
    [0xc0, 0xaf],
    [0xc1, 0xbf],
    [0xc2],
    [0xc2, 0x41],
    [0xe0, 0x80, 0xaf],
    [0xe0, 0x9f, 0xbf],
    [0xe2, 0x82],
    [0xed, 0xa0, 0x80],
    [0xed, 0xbf, 0xbf],
    [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80],
    [0xf0, 0x80, 0x80, 0xaf],
    [0xf0, 0x9f, 0x98],
    [0xf4, 0x90, 0x80, 0x80],
    [0xf5, 0x80, 0x80, 0x80],
    [0xf8, 0x88, 0x80, 0x80, 0x80],
    [0xfc, 0x84, 0x80, 0x80, 0x80, 0x80],
    [0xfe],
    [0xff],
    [0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2],
  ] as const
).map((inside) => invalid(`bytes ${Buffer.from(inside).toString('hex')} in a string`, bytes(open, inside, close)));

const elsewhere: readonly BodyRow[] = [
  invalid('UTF-16 little endian', [...Buffer.from(messages(message), 'utf16le')]),
  invalid('UTF-16 with a byte order mark', [0xff, 0xfe, ...Buffer.from(messages(message), 'utf16le')]),
  invalid('UTF-8 with a byte order mark', [0xef, 0xbb, 0xbf, ...Buffer.from(messages(message))]),
  invalid('an invalid byte in a key', bytes('{"bo', [0xff], 'dy":{}}')),
  invalid('an invalid byte between values', bytes('{"body":', [0xff], '{}}')),
  invalid('gzip without its header', [0x1f, 0x8b, 0x08, 0x00]),
];

const duplicates: readonly BodyRow[] = [
  invalid('body twice', `{"body":{"messages":[${message}]},"body":{"messages":[${message}]}}`),
  invalid('messages twice', `{"body":{"messages":[${message}],"messages":[${message}]}}`),
  invalid('role twice', messages('{"role":"user","role":"user","content":"x"}')),
  invalid('content twice, one denied', messages('{"role":"user","content":"x","content":"forbidden"}')),
  invalid('content twice, one escaped', messages('{"role":"user","content":"x","conten\\u0074":"forbidden"}')),
  invalid('role twice, both escaped', messages('{"\\u0072ole":"a","rol\\u0065":"b","content":"x"}')),
  invalid('an empty key twice', messages(message).replace('{"body"', '{"":1,"":2,"body"')),
  invalid('an unknown key twice, deep inside', `{"body":{"messages":[{"role":"user","content":{"a":{"b":1,"b":1}}}]}}`),
  invalid('__proto__ twice', `{"__proto__":1,"__proto__":2}`),
  invalid('a key twice in the second message', messages(message, '{"role":"user","content":"x","role":"user"}')),
];

const depth: readonly BodyRow[] = [
  invalid('65 lists inside each other', `${'['.repeat(65)}${']'.repeat(65)}`),
  invalid('500 lists inside each other', `${'['.repeat(500)}${']'.repeat(500)}`),
  shape('64 lists inside each other', `${'['.repeat(64)}${']'.repeat(64)}`),
];

const shapes: readonly BodyRow[] = [
  ...['null', 'true', 'false', '0', '-1', '1.5e3', '"text"', '[]', '{}', '[{}]', '[null]'].map((value) =>
    shape(`the value ${value}`, value),
  ),
  ...['null', 'true', '0', '"x"', '[]', '{}', '[{}]'].map((value) => shape(`body ${value}`, `{"body":${value}}`)),
  ...['null', 'true', '0', '"x"', '{}', message].map((value) =>
    shape(`messages ${value}`, `{"body":{"messages":${value}}}`),
  ),
  ...['null', 'true', '0', '"x"', '[]', '{}', '[[]]'].map((value) => shape(`message ${value}`, messages(value))),
  ...['null', 'true', '0', '[]', '{}', '["x"]', '[{"type":"text","text":"x"}]', '{"text":"x"}'].map((value) =>
    shape(`content ${value}`, messages(`{"role":"user","content":${value}}`)),
  ),
  ...['null', 'true', '0', '[]', '{}', '""', `"${'r'.repeat(33)}"`, '["user"]'].map((value) =>
    shape(`role ${value}`, messages(`{"role":${value},"content":"x"}`)),
  ),
  ...[
    'name',
    'tool_calls',
    'tool_call_id',
    'refusal',
    'audio',
    'id',
    'index',
    '__proto__',
    'constructor',
    'Role',
    'CONTENT',
    '',
  ].map((key) =>
    shape(`a message with ${JSON.stringify(key)}`, messages(`{"role":"user","content":"x","${key}":null}`)),
  ),
  ...['model', 'stream', 'tools', 'metadata', 'filters', '__proto__', 'Messages', 'choices'].map((key) =>
    shape(`body with ${key}`, `{"body":{"messages":[${message}],"${key}":null}}`),
  ),
  ...['model', 'policy', 'document_id', 'acl', '__proto__', 'Body', 'messages'].map((key) =>
    shape(`${key} beside body`, `{"body":{"messages":[${message}]},"${key}":null}`),
  ),
  shape('no role', messages('{"content":"x"}')),
  shape('no content', messages('{"role":"user"}')),
  shape('a wrong message after good ones', messages(message, message, '{"role":"user"}')),
  shape('a wrong message and too many', messages(...Array.from({ length: 9 }, () => '{"role":"user"}'))),
  shape('the body of the other stage', '{"body":{"choices":[{"message":{"role":"user","content":"x"}}]}}'),
  ['no messages', '{"body":{"messages":[]}}', 422, 'message_limit'],
  ['one message too many', messages(...Array.from({ length: 9 }, () => message)), 422, 'message_limit'],
  ['65 messages', messages(...Array.from({ length: 65 }, () => '{"role":"u","content":""}')), 422, 'message_limit'],
];

const fine: readonly BodyRow[] = [
  good('one message', messages(message)),
  good('as many messages as allowed', messages(...Array.from({ length: 8 }, () => message))),
  good('white space of JSON around everything', ` \t\r\n${messages(message).replaceAll(':', ' : ')}\n`),
  good('members in another order', '{"body":{"messages":[{"content":"x","role":"user"}]}}'),
  good('escaped keys', '{"\\u0062ody":{"messages":[{"r\\u006fle":"user","content":"x"}]}}'),
  good('an escaped pair of surrogates', `${open}\\ud83d\\ude00${close}`),
  good('every short escape', `${open}\\"\\\\\\/\\b\\f\\n\\r\\t${close}`),
  good('an escaped NUL', `${open}\\u0000${close}`),
  good('DEL, NBSP and line separators as they are', `${open}\u007f\u00a0\u2028\u2029\ufeff${close}`),
  good('a character outside of the basic plane', `${open}\u{1f600}${close}`),
  good('noncharacters', `${open}\uffff\u{10ffff}${close}`),
  good('an empty content', messages('{"role":"user","content":""}')),
  good(
    'a role of 32 characters outside of the basic plane',
    messages(`{"role":"${'\u{1f600}'.repeat(32)}","content":"x"}`),
  ),
];

/** Bodies of POST /request; a runtime with maxBodyBytes 2048, maxMessages 8 and a rule against "forbidden". */
export const bodyRows: readonly BodyRow[] = [
  ...syntax,
  ...escapes,
  ...controls,
  ...encodings,
  ...elsewhere,
  ...duplicates,
  ...depth,
  ...shapes,
  ...fine,
];
