import { MALFORMED } from '#kit/json/testing/malformed';

/** A body and the expected answer. Bytes are used for bodies that are not valid text. */
export type BodyRow = readonly [name: string, body: string | readonly number[], status: number, code: string];

/** The same content in a body of either stage; the text is inserted unescaped between the quotes of the content. */
const open = '{"body":{"messages":[{"role":"user","content":"';
const close = '"}]}}';
const message = '{"role":"user","content":"x"}';
const messages = (...items: readonly string[]): string => `{"body":{"messages":[${items.join(',')}]}}`;
const bytes = (before: string, inside: string | readonly number[], after: string): readonly number[] => [
  ...Buffer.from(before),
  ...(typeof inside === 'string' ? Buffer.from(inside) : inside),
  ...Buffer.from(after),
];

const invalid = (name: string, body: string | readonly number[]): BodyRow => [name, body, 400, 'invalid_json'];
const shape = (name: string, body: string): BodyRow => [name, body, 422, 'invalid_payload'];
const good = (name: string, body: string | readonly number[]): BodyRow => [name, body, 200, 'policy_pass'];

/** Every text that the strict reader refuses, as a whole body and as the content of a message. */
const malformed: readonly BodyRow[] = MALFORMED.filter(([, text]) => text.length < 1_500).flatMap(([what, text]) => [
  invalid(`${what} as the body`, typeof text === 'string' ? text : [...text]),
  invalid(`${what} as content`, bytes('{"body":{"messages":[{"role":"user","content":', text, '}]}}')),
]);

const controls: readonly BodyRow[] = Array.from({ length: 32 }, (_, code) =>
  invalid(`control character 0x${code.toString(16).padStart(2, '0')} in a string`, bytes(open, [code], close)),
);

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

const shapes: readonly BodyRow[] = [
  shape('64 lists inside each other', `${'['.repeat(64)}${']'.repeat(64)}`),
  shape('a wrong message after good ones', messages(message, message, '{"role":"user"}')),
  shape('a wrong message and too many', messages(...Array.from({ length: 9 }, () => '{"role":"user"}'))),
  shape('the body of the other stage', '{"body":{"choices":[{"message":{"role":"user","content":"x"}}]}}'),
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

/**
 * Bodies of POST /request; a runtime with maxBodyBytes 2048, maxMessages 8 and a rule against "forbidden".
 * `bodies.test.ts` covers bodies with members of another type.
 */
export const bodyRows: readonly BodyRow[] = [
  ...malformed,
  ...controls,
  ...elsewhere,
  ...duplicates,
  ...shapes,
  ...fine,
];
