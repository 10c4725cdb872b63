import { fuzzCollections, fuzzTenant } from './reference-submit.ts';

type Random = () => number;
type Node = { [key: string]: unknown } | unknown[];

const hash = 'ab'.repeat(32);
const letters = 'abcdefghijklmnop';

/** Values that are known to cause errors in JSON parsers, form parsers and databases, as constants or generators. */
const oddities: readonly unknown[] = [
  ...[null, true, false, 0, -0, -1, 1, 1.5, 1e308, 2 ** 53, '', ' ', '0', '\0', 'a\0b', '\ufeff', '\u202e', 'é', '𝄞'],
  ...[[], {}, [[]], [null], { a: { b: [1] } }, 'upsert', 'delete', 'UPSERT', fuzzTenant, 'globex', 'nowhere'],
  ...['x'.repeat(255), 'x'.repeat(256), 'x'.repeat(512), 'x'.repeat(513), 'x'.repeat(1_024), 'x'.repeat(1_025)],
  ...['ж'.repeat(512), 'ж'.repeat(513), '漢'.repeat(341), '漢'.repeat(342), '𝄞'.repeat(256), '𝄞'.repeat(257)],
  ...['x'.repeat(4_097), 'y'.repeat(65_530), 'NaN', "'; drop table", '{"a":1}', '%00', '../..'],
  ...['2026-01-01T00:00:00Z', '2026-02-29T00:00:00Z', '2024-02-29T23:59:59.999999+14:00', '0000-01-01T00:00:00Z'],
  ...['9999-12-31T23:59:59-23:59', '2026-01-01T00:00Z', '2026-01-01T24:00:00Z', '2026-01-01', '2026-01-01T00:00:60Z'],
  ...['0001-01-01T00:00:00+23:59', '2026-01-01t00:00:00z', '2026-01-01T00:00:00+99:99', '2026-01-01T00:00:00'],
  ...['https://a.example/x', 's3://bucket/key', 'S3://b/k', 'http://a.example', 'https:///x', 'https://a.example/a b'],
  ...[' https://a.example', 'mailto:a@example.org', 'urn:isbn:1', 'https://[::1', 'x:', ':x', 'https://пример.рф/ё'],
  ...['handbook', 'noticeboard', 'HANDBOOK', '01a20717-68d3-733c-aba4-8aaada68bfad', hash, `sha256:${hash}`],
  ...[Array.from({ length: 201 }, (_, at) => `g${at}`), Array.from({ length: 200 }, (_, at) => `g${at}`)],
];
const strangeKeys = ['__proto__', 'constructor', 'toJSON', 'hasOwnProperty', '', '0', 'length', 'Op', 'labels', 'a\0'];

/** The bytes of a submit: mostly an allowed submit with one to four changes of its structure or of its text. */
export function makeSubmit(random: Random): Buffer {
  const share = random();
  const body = { documents: Array.from({ length: 1 + Math.floor(random() * 2) }, () => validDocument(random)) };
  if (share < 0.02) return Buffer.from(JSON.stringify(body));
  if (share < 0.8) {
    for (let left = 1 + Math.floor(random() * 4); left > 0; left -= 1) changeStructure(body, random);
    return Buffer.from(JSON.stringify(body));
  }
  return changeBytes(Buffer.from(JSON.stringify(body)), random);
}

function validDocument(random: Random): Record<string, unknown> {
  const isRef = random() < 0.2;
  const name = (length: number): string => Array.from({ length }, () => pick(letters.split(''), random)).join('');
  const document: Record<string, unknown> = {
    collection: pick(Object.keys(fuzzCollections), random),
    tenant_id: fuzzTenant,
    doc_id: name(2),
    content_hash: isRef ? hash : name(8),
    idempotency_key: name(8),
    acl: { groups: ['staff', name(3)], principals: [name(4)], scope: { any: [name(2)] } },
  };
  if (random() < 0.2) document['op'] = random() < 0.5 ? 'upsert' : 'delete';
  if (isRef) document['content_ref'] = { uri: `https://192.0.2.1/${name(5)}`, content_hash: hash, bytes: 10 };
  else {
    const sections = [{ text: name(20), heading: name(5) }, { text: name(10) }];
    document['content'] = { title: name(6), sections, tables: [{ headers: ['A'], rows: [['1']] }], extra: [name(2)] };
  }
  if (random() < 0.6) {
    const valid = { valid_from: '2026-01-01T00:00:00+03:00', valid_until: '2036-02-29T00:00:00.5Z' };
    document['metadata'] = { source: name(3), url: 'https://a.example/', labels: [name(2)], ...valid, more: { a: 1 } };
  }
  return document;
}

/** Removes, replaces, wraps, repeats or adds a member somewhere. */
function changeStructure(root: Node, random: Random): void {
  const places: [Node, string | number][] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const key of Array.isArray(node) ? node.keys() : Object.keys(node)) {
      places.push([node as Node, key]);
      visit((node as Record<string | number, unknown>)[key]);
    }
  };
  visit(root);
  if (places.length === 0) return;
  const [parent, key] = pick(places, random);
  const holder = parent as Record<string | number, unknown>;
  const share = random();
  if (share < 0.5) set(holder, key, structuredClone(pick(oddities, random)));
  else if (share < 0.65) Array.isArray(parent) ? parent.splice(Number(key), 1) : delete holder[key];
  else if (share < 0.75) set(holder, key, random() < 0.5 ? [holder[key]] : { [key]: holder[key] });
  else if (share < 0.8) set(holder, key, nested(1 + Math.floor(random() * 80)));
  else if (Array.isArray(parent)) parent.push(...Array.from({ length: pick([1, 1, 2, 250], random) }, () => parent[0]));
  else set(holder, pick(strangeKeys, random), structuredClone(pick(oddities, random)));
}

/** Sets an own property of any name. */
function set(holder: object, key: string | number, value: unknown): void {
  Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });
}

function nested(depth: number): unknown {
  return depth === 0 ? 'deep' : depth % 2 === 0 ? [nested(depth - 1)] : { a: nested(depth - 1) };
}

const tokens = [
  '"',
  '\\',
  '\\u0000',
  '\\ud800',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  ' ',
  '\0',
  'null',
  '1e999',
  '-',
  '"op":',
];

/** Cuts, repeats, replaces or adds bytes of the text. */
function changeBytes(text: Buffer, random: Random): Buffer {
  const at = Math.floor(random() * text.length);
  const end = Math.min(text.length, at + 1 + Math.floor(random() * 12));
  const [before, cut, after] = [text.subarray(0, at), text.subarray(at, end), text.subarray(end)];
  const share = random();
  if (share < 0.2) return Buffer.concat([before, after]);
  if (share < 0.35) return Buffer.concat([before, cut, cut, after]);
  if (share < 0.5) return before;
  if (share < 0.7) return Buffer.concat([before, Buffer.from([Math.floor(random() * 256)]), text.subarray(at + 1)]);
  return Buffer.concat([before, Buffer.from(pick(tokens, random)), text.subarray(at)]);
}

function pick<T>(list: readonly T[], random: Random): T {
  return list[Math.floor(random() * list.length)] as T;
}
