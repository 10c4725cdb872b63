import type { Random } from '../streaming/random.ts';
import { changeBytes } from './make-body.ts';
import type { Draft } from './make-request.ts';

const targets = [
  ...[
    'request',
    '',
    '*',
    '/request x',
    '/re%71uest',
    '/request\\x',
    '/./request',
    '/request#x',
    'http://',
    'x:443',
    '/\u00e9',
  ],
  ...[
    '/request"',
    '/<request>',
    '/request%',
    '/request%zz',
    '/request|',
    '/request^',
    '/request{}',
    '/request`',
    '/a'.repeat(9_000),
  ],
  ...[
    'https://x/request',
    'http://u:p@x/request',
    'http://x:y/request',
    '//x/request',
    '/\t',
    '/request?\u00ff',
    '/%2e%2e/request',
  ],
];
const methods = [
  'post',
  'FETCH',
  'P0ST',
  '',
  'POST POST',
  'CONNECT',
  'PRI',
  'P\tOST',
  'SOURCE',
  'M-SEARCH',
  '\u0000POST',
];
const versions = [
  'HTTP/1.0',
  'HTTP/1.2',
  'HTTP/2.0',
  'HTTP/0.9',
  'HTTP/11',
  'http/1.1',
  'HTTP/1.1 ',
  'HTTP/1,1',
  '',
  'ICE/1.0',
  'HTTP/1.10',
];
const hosts = [
  '',
  ' ',
  'a b',
  'x/y',
  'x:y',
  'x:99999',
  '[::1]',
  '[::1]:80',
  'ü',
  'x@y',
  'x,y',
  '%41',
  'x:',
  '"x"',
  'a_b',
  '127.0.0.1:1',
];
const codings = [
  'chunked',
  'Chunked',
  'gzip',
  'chunked, gzip',
  'gzip, chunked',
  'identity',
  'chunked, chunked',
  '',
  'xchunked',
  'chunked;q=1',
  '"chunked"',
];
const expectations = ['100-continue', '100-Continue', '200-ok', '', '100-continue, x', '100-continue;x'];

function lengths(length: number): readonly string[] {
  return [
    ...[
      `+${length}`,
      `-${length}`,
      ` ${length}`,
      `0${length}`,
      `${length}.0`,
      `${length},${length}`,
      `${length} ${length}`,
    ],
    ...[
      `0x${length.toString(16)}`,
      `${length}e0`,
      '',
      'x',
      `${length}x`,
      '9'.repeat(19),
      '9'.repeat(25),
      '18446744073709551616',
    ],
    ...[length - 1, length + 1, 0, 1, length * 2, 2_048, 2_049, 65_536, 200_000].map(String),
  ];
}

type Change = (draft: Draft, random: Random) => void;

const changes: readonly Change[] = [
  (draft, random) => {
    draft.target = random.pick(targets);
  },
  (draft, random) => {
    draft.method = random.pick(methods);
  },
  (draft, random) => {
    draft.version = random.pick(versions);
  },
  (draft, random) => {
    draft.headers = draft.headers.filter(([name]) => name !== 'host');
    for (let count = random.pick([0, 1, 1, 1, 2]); count > 0; count -= 1)
      draft.headers.push(['host', random.pick(hosts)]);
  },
  (draft, random) => {
    draft.framing = 'as_is';
    draft.headers.push(['content-length', random.pick(lengths(draft.body.length))]);
    if (random.chance(20)) draft.headers.push(['Content-Length', String(draft.body.length)]);
  },
  (draft, random) => void draft.headers.push(['content-length', random.pick(lengths(draft.body.length))]),
  (draft, random) => void draft.headers.push(['transfer-encoding', random.pick(codings)]),
  (draft, random) => {
    draft.framing = random.pick(['chunked', 'as_is']);
    draft.headers.push([
      random.pick(['transfer-encoding', 'Transfer-Encoding', 'transfer_encoding']),
      random.pick(codings),
    ]);
  },
  (draft) => {
    draft.framing = 'as_is';
  },
  (draft, random) => void draft.headers.push(['expect', random.pick(expectations)]),
  (draft, random) => {
    const name = random.pick(['', 'x y', 'x ', ' x', 'x\u0000', 'x(', 'x\u00e9', 'x\t', 'x\r', 'x\n', '"x"', '@x']);
    draft.headers.splice(random.below(draft.headers.length + 1), 0, [name, 'y']);
  },
  (draft, random) => {
    const value = random.pick([
      'a\u0000b',
      'a\u0001b',
      'a\rb',
      'a\nb',
      'a\r\n b',
      'a\u007fb',
      'a\r\n\r\nb',
      'a\r\nb',
      '\u00ff',
      'a\u000bb',
    ]);
    draft.headers.splice(random.below(draft.headers.length + 1), 0, ['x', value]);
  },
];

/** Mutates the framing of a request: its request line, host, length, transfer coding or expectations. */
export function changeFraming(draft: Draft, random: Random): void {
  random.pick(changes)(draft, random);
}

const prefixes = [
  '\r\n',
  '\n',
  '\r',
  '\r\n\r\n',
  ' ',
  '\0',
  '\u0016\u0003\u0001',
  'GET / HTTP/1.1\r\n',
  '\u00ef\u00bb\u00bf',
  '0\r\n\r\n',
];
const suffixes = [
  '\r\n',
  '\n',
  '0\r\n\r\n',
  'x',
  'GET /readyz HTTP/1.1\r\nhost: x\r\n\r\n',
  'POST /request HTTP/1.1\r\n\r\n',
  '\0',
  '{}',
];

/** Mutates bytes of a whole request, most often in its head. */
export function changeWire(bytes: Buffer, random: Random): Buffer {
  const head = bytes.indexOf('\r\n\r\n', 0, 'latin1') + 4;
  switch (random.below(8)) {
    case 0:
      return Buffer.concat([Buffer.from(random.pick(prefixes), 'latin1'), bytes]);
    case 1:
      return Buffer.concat([bytes, Buffer.from(random.pick(suffixes), 'latin1')]);
    case 2:
      return bytes.subarray(0, random.below(bytes.length));
    case 3:
      return Buffer.from(
        bytes.toString('latin1').replace('\r\n', random.pick(['\n', '\r', '\n\r', '\r\r\n', '', '\r\n\r\n'])),
        'latin1',
      );
    case 4: {
      const lines = bytes.toString('latin1').split('\r\n');
      const at = random.below(lines.length);
      lines.splice(at, random.below(2), random.pick(['', ' folded', 'x', 'x:', ': y', 'x: y', 'x : y', '\tfolded']));
      return Buffer.from(lines.join('\r\n'), 'latin1');
    }
    case 5:
      return Buffer.concat([bytes.subarray(0, head), changeBytes(bytes.subarray(head), random)]);
    default:
      return Buffer.concat([changeBytes(bytes.subarray(0, head), random), bytes.subarray(head)]);
  }
}
