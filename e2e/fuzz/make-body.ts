import type { Stage } from '#contracts/policy';
import type { Random } from '../streaming/random.ts';
import { deniedSubstring, deniedWord, fuzzLimits, maskedSubstring } from './fuzz-bundle.ts';

const words = [
  ...[
    'hello',
    'the weather',
    'a portcullis',
    'погода',
    'тайный',
    'καλημέρα',
    'ışık',
    'e\u0301',
    '中文',
    '👩‍👩‍👧',
    '\0',
  ],
  ...['"quoted"', 'back\\slash', 'line\nbreak', '\u007f', '\u2028', '\ufeff', '1234', '12-34', 'forbidden portal'],
];
const special = [
  deniedSubstring,
  deniedWord,
  `x${deniedWord}`,
  maskedSubstring.term,
  `${maskedSubstring.term}s`,
  '1234-5678',
  '1234-5678-9012',
];

function makeContent(random: Random): string {
  const parts = Array.from({ length: random.below(7) }, () =>
    random.chance(12) ? random.pick(special) : random.pick(words),
  );
  return parts.join(random.pick([' ', ' ', '']));
}

const roles = ['user', 'user', 'system', 'assistant', 'tool', 'роль', '😀'.repeat(32)] as const;

/** The body of a valid check: one to a few messages, sometimes with the maximum number or size. */
export function makeBody(stage: Stage, random: Random): string {
  const count = random.chance(80)
    ? random.between(1, 3)
    : random.pick([0, 4, fuzzLimits.maxMessages, fuzzLimits.maxMessages + 1]);
  const messages = Array.from({ length: count }, () => ({ role: random.pick(roles), content: makeContent(random) }));
  const [first] = messages;
  if (first !== undefined && random.chance(3))
    first.content += ` ${maskedSubstring.term}`.repeat(random.between(1, 45));
  const inner = stage === 'request' ? { messages } : { choices: messages.map((message) => ({ message })) };
  const text = JSON.stringify({ body: inner });
  return random.chance(3) && first !== undefined ? padded(text, random) : text;
}

/** The body, extended to the size limit, to one byte less, or to one byte more. */
function padded(text: string, random: Random): string {
  const missing = fuzzLimits.maxBodyBytes + random.between(-1, 1) - Buffer.byteLength(text);
  return missing > 0 ? text.replace('"content":"', `"content":"${'a'.repeat(missing)}`) : text;
}

const values = [
  ...[
    'null',
    'true',
    'false',
    '0',
    '-0',
    '1e5',
    '-1.5E-3',
    '1e999',
    '-1e999',
    '01',
    '+1',
    '.5',
    '1.',
    '1e',
    '0x1',
    'NaN',
  ],
  ...[
    '""',
    '"x"',
    '"\\ud83d\\ude00"',
    '"\\ud83d"',
    '"\\udc00x"',
    '"\\u00e9"',
    '"\\u12"',
    '"\\x41"',
    '"\t"',
    "'x'",
    '[]',
  ],
  ...[
    '{}',
    '[1]',
    '[1,]',
    '{"a":1}',
    '{"a":1,"a":2}',
    '{"a":1,"\\u0061":2}',
    '{"a"}',
    'undefined',
    '[[[[]]]]',
    '{"":{}}',
  ],
];
const deep = [63, 64, 65, 66, 500].map((depth) => '['.repeat(depth) + ']'.repeat(depth));
const tokens = [
  ...',:{}[]"\\/\'-+e.0',
  'null',
  '//x\n',
  '/**/',
  ' ',
  '\n',
  '\t',
  '\r',
  '\f',
  '\u00a0',
  '\ufeff',
  '\0',
  '\u0001',
];
const keys = [
  'role',
  'content',
  'message',
  'messages',
  'choices',
  'body',
  'name',
  'tool_calls',
  '__proto__',
  'constructor',
  '',
];
const escapes = [
  ...[
    '\\"',
    '\\\\',
    '\\/',
    '\\b',
    '\\n',
    '\\u0041',
    '\\u0000',
    '\\uD83D\\uDE00',
    '\\uDE00',
    '\\ud83d\\u0041',
    '\\u{41}',
  ],
  ...['\\x41', '\\0', '\\a', "\\'", '\\', '\\U0041', '\\u00', '\\uzzzz', '\n', '\u0000', '\u001f', '\u007f'],
];

/** A position in a text directly after a match, or at its end. */
function placeAfter(text: string, pattern: RegExp, random: Random): number {
  const places = [...text.matchAll(pattern)].map((found) => found.index + found[0].length);
  return places.length === 0 ? text.length : random.pick(places);
}

function insert(text: string, at: number, part: string): string {
  return text.slice(0, at) + part + text.slice(at);
}

function replaceOne(text: string, pattern: RegExp, random: Random, replacement: (found: string) => string): string {
  const places = [...text.matchAll(pattern)];
  if (places.length === 0) return text;
  const found = random.pick(places);
  return text.slice(0, found.index) + replacement(found[0]) + text.slice(found.index + found[0].length);
}

type Change = (text: string, random: Random) => string;

/** Mutations of JSON syntax and of the shape of a check; some results are still valid. */
const changes: readonly Change[] = [
  (text, random) => insert(text, placeAfter(text, /\{/g, random), `"${random.pick(keys)}":${random.pick(values)},`),
  (text, random) => replaceOne(text, /"(?:role|content)":"[^"\\]*"/g, random, (found) => `${found},${found}`),
  (text, random) => replaceOne(text, /"(?:role|content|body|messages)"/g, random, (found) => escapedKey(found, random)),
  (text, random) => replaceOne(text, /"[a-z]+"(?=:)/g, random, () => `"${random.pick(keys)}"`),
  (text, random) => replaceOne(text, /:"[^"\\]*"/g, random, () => `:${random.pick(values)}`),
  (text, random) => replaceOne(text, /:[{[]/g, random, (found) => `:${random.pick(values)},"x"${found}`),
  (text, random) => replaceOne(text, /,?"[a-z]+":"[^"\\]*"/g, random, () => ''),
  (text, random) => replaceOne(text, /[{}[\]:,"]/g, random, () => ''),
  (text, random) => replaceOne(text, /[{}[\]:,"]/g, random, (found) => found + found),
  (text, random) => insert(text, placeAfter(text, /[{}[\]:,"]/g, random), random.pick(tokens)),
  (text, random) => insert(text, random.below(text.length + 1), random.pick(tokens)),
  (text, random) => insert(text, placeAfter(text, /:"/g, random), random.pick(escapes)),
  (text, random) =>
    text.replaceAll(/[{}[\]:,](?=[{}[\]:,"])/g, (found) => found + random.pick(['', ' ', '\n', '\t\r'])),
  (text, random) => text + random.pick([...tokens, ...values, text]),
  (text, random) => random.pick([...tokens, ...values]) + text,
  (text, random) => text.replace(/"content":"[^"\\]*"/, `"content":${random.pick(deep)}`),
  (text, random) =>
    text.replace(
      /"role":"[^"]*"/,
      `"role":"${random.pick(['r', '😀', '\u0301']).repeat(random.pick([0, 31, 32, 33, 64]))}"`,
    ),
  (_, random) => random.pick([...values, ...deep, '', ' ', '\n', '{"body":{}}', '{"body":{"messages":[]}}']),
  (text, random) =>
    random.pick([`[${text}]`, `{"body":${text}}`, text.replace('"body"', '"Body"'), text.replaceAll('"', "'")]),
  (text, random) => text.slice(0, random.below(text.length)),
];

function escapedKey(key: string, random: Random): string {
  const at = random.between(1, key.length - 2);
  return `${key.slice(0, at)}\\u00${key.charCodeAt(at).toString(16)}${key.slice(at + 1)}`;
}

/** Mutates the text of a body. */
export function changeJson(text: string, random: Random): string {
  return random.pick(changes)(text, random);
}

const bytes = [0x00, 0x1f, 0x22, 0x5c, 0x7f, 0x80, 0xbf, 0xc0, 0xc2, 0xe0, 0xed, 0xf0, 0xf4, 0xf5, 0xff];
const sequences = [
  [0xef, 0xbb, 0xbf],
  [0xed, 0xa0, 0x80],
  [0xc0, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
  [0xe2, 0x82],
  [0xff, 0xfe],
];

/**
 * Sizes above the body limit, above the part of a refused body that the server drains, and above the limit of any body.
 */
const fillers = [2_048, 65_600, 140_000] as const;

/** Mutates bytes without regard to their meaning: flips, removes, inserts, moves or truncates them. */
export function changeBytes(before: Buffer, random: Random): Buffer {
  if (random.chance(1)) return Buffer.concat([before, Buffer.alloc(random.pick(fillers), random.pick(bytes))]);
  const at = random.below(before.length + 1);
  const [head, tail] = [before.subarray(0, at), before.subarray(at)];
  const length = random.between(1, 8);
  switch (random.below(7)) {
    case 0: {
      const copy = Buffer.from(before);
      if (at < copy.length) copy[at] = (copy[at] ?? 0) ^ (1 << random.below(8));
      return copy;
    }
    case 1:
      return Buffer.concat([head, tail.subarray(random.chance(70) ? 1 : length)]);
    case 2:
      return Buffer.concat([head, Buffer.from([random.chance(50) ? random.pick(bytes) : random.below(256)]), tail]);
    case 3:
      return Buffer.concat([head, Buffer.from(random.pick(sequences)), tail]);
    case 4:
      return Buffer.concat([head, tail.subarray(0, length), tail]);
    case 5:
      return Buffer.concat([tail.subarray(0, length), head, tail.subarray(length)]);
    default:
      return random.chance(30) ? head : Buffer.concat([head, Buffer.from([random.below(256)]), tail.subarray(1)]);
  }
}
