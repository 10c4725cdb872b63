import type { Random } from '../streaming/random.ts';
import { token } from './fuzz-bundle.ts';
import type { Draft } from './make-request.ts';

const media = [
  ...['application/json', 'application/json; charset=utf-8', 'application/json;charset="UTF-8"', 'APPLICATION/JSON'],
  ...['text/json', 'application/json; charset=utf-16', 'application/problem+json', 'application/json;', 'json', '*/*'],
];
const credentials = [
  ...[
    `bearer ${token}`,
    `Bearer  ${token}`,
    `Basic ${token}`,
    token,
    `Bearer ${token},`,
    `Bearer ${token} x`,
    'Bearer',
  ],
  ...[`Bearer ${token.slice(1)}`, `Bearer ${token}=`, `BEARER ${token}`, `Bearer\t${token}`],
];
const modes = ['buffered', 'sse-reject', 'Buffered', 'buffered,sse-reject', 'stream', 'sse-reject '];
const others = [
  ['traceparent', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'],
  ['traceparent', 'x'],
  ['accept', 'text/plain'],
  ['accept-encoding', 'gzip'],
  ['content-encoding', 'identity'],
  ['content-encoding', 'gzip'],
  ['content-language', 'ru'],
  ['connection', 'close'],
  ['connection', 'keep-alive'],
  ['connection', 'upgrade'],
  ['upgrade', 'websocket'],
  ['expect', '100-continue'],
  ['te', 'trailers'],
  ['trailer', 'x'],
  ['cookie', 'a=1'],
  ['origin', 'http://other.example'],
  ['x-forwarded-for', '10.0.0.1'],
  ['x-http-method-override', 'GET'],
  ['if-none-match', '*'],
  ['range', 'bytes=0-1'],
  ['retry-after', '1'],
] as const;

type Change = (draft: Draft, random: Random) => void;

/** Mutates the value of a random header. */
function rewrite(draft: Draft, random: Random, make: (value: string) => string): void {
  const at = random.below(draft.headers.length);
  const [name = 'x', value = ''] = draft.headers[at] ?? [];
  draft.headers[at] = [name, make(value)];
}

function set(draft: Draft, name: string, value: string): void {
  draft.headers = draft.headers.map((header) => (header[0] === name ? [name, value] : header));
}

const changes: readonly Change[] = [
  (draft, random) => void draft.headers.splice(random.below(draft.headers.length), 1),
  (draft, random) => void draft.headers.push(random.pick(draft.headers)),
  (draft, random) => {
    const [name] = random.pick(draft.headers);
    draft.headers.splice(random.below(draft.headers.length), 0, [name.toUpperCase(), random.pick(['', 'x', '1'])]);
  },
  (draft, random) => rewrite(draft, random, () => random.pick(['', ' ', '\t', 'x', '*', 'null', '0', '\u00e9', '"x"'])),
  (draft, random) => rewrite(draft, random, (value) => changedText(value, random)),
  (draft, random) =>
    rewrite(draft, random, (value) => `${random.pick(['', ' ', '\t '])}${value}${random.pick([' ', '\t', ', x'])}`),
  (draft, random) => rewrite(draft, random, (value) => random.pick([value.toUpperCase(), value + value, `"${value}"`])),
  (draft, random) => {
    const at = random.below(draft.headers.length);
    const [name = 'x', value = ''] = draft.headers[at] ?? [];
    draft.headers[at] = [random.pick([name.toUpperCase(), `${name}x`, `x-${name}`, name.replaceAll('-', '_')]), value];
  },
  (draft, random) => set(draft, 'content-type', random.pick(media)),
  (draft, random) => set(draft, 'authorization', random.pick(credentials)),
  (draft, random) => set(draft, 'x-ap-gr-response-mode', random.pick(modes)),
  (draft, random) => void draft.headers.push(random.pick(others)),
  (draft, random) => void draft.headers.push(random.pick(others)),
  (draft, random) => {
    const count = random.pick([10, 100, 400]);
    for (let added = 0; added < count; added += 1) draft.headers.push([`x-${added}`, 'y']);
  },
  (draft, random) => void draft.headers.push(['x-long', 'y'.repeat(random.pick([1_000, 8_000, 15_900, 17_000]))]),
  (draft, random) => {
    draft.target = random.pick([
      ...['/request', '/response', '/request?x=1', '/Request', '/request/', '//request', '/', '/v1/check', '/metrics'],
      ...['/readyz', '/openapi.json', '/docs', 'http://other.example/request', '/response?', '/evaluate', '/dry-run'],
    ]);
  },
  (draft, random) => {
    draft.method = random.pick(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY', 'POST']);
    if (random.chance(50)) draft.target = random.pick(['/readyz', '/metrics', '/docs', '/openapi.json']);
  },
];

function changedText(value: string, random: Random): string {
  const at = random.below(value.length + 1);
  const inserted = random.chance(70) ? String.fromCharCode(random.between(0x20, 0xff)) : '';
  return value.slice(0, at) + inserted + value.slice(at + random.below(2));
}

/** Mutates the head of a request without deliberately breaking its framing. */
export function changeHeaders(draft: Draft, random: Random): void {
  random.pick(changes)(draft, random);
}
