import type { Stage } from '#contracts/policy';
import type { Random } from '../streaming/random.ts';
import { changeFraming, changeWire } from './change-framing.ts';
import { changeHeaders } from './change-headers.ts';
import { fuzzPolicy, token } from './fuzz-bundle.ts';
import { changeBytes, changeJson, makeBody } from './make-body.ts';
import { pages, profile } from './wire-contract.ts';

/** A request before serialisation. */
export type Draft = {
  method: string;
  target: string;
  version: string;
  headers: (readonly [name: string, value: string])[];
  /** How a request announces the length of its body; `as_is` if the headers already contain the length. */
  framing: 'length' | 'chunked' | 'as_is';
  body: Buffer;
};

export const mutationKinds = ['headers', 'bytes', 'json', 'framing'] as const;
export type MutationKind = (typeof mutationKinds)[number];

/** The bytes of a request with the mutations applied to it; `none` for a correct request. */
export type MadeRequest = { readonly kind: MutationKind | 'none'; readonly bytes: Buffer };

/** Generates a request for the fuzzer's bundle and mutates it in one to three places. */
export function makeRequest(random: Random, digest: string): MadeRequest {
  const stage: Stage = random.chance(50) ? 'request' : 'response';
  const text = makeBody(stage, random);
  const draft = draftOf(stage, text, digest, random);
  if (random.chance(3)) return { kind: 'none', bytes: write(draft, random) };
  const before = contentOf(draft);
  const kind = random.pick(mutationKinds);
  change(draft, kind, text, random);
  const changed = contentOf(draft) !== before;
  const bytes = write(draft, random);
  if (kind !== 'framing' || (changed && random.chance(50))) return { kind: changed ? kind : 'none', bytes };
  const wire = changeWire(bytes, random);
  return { kind: changed || !wire.equals(bytes) ? kind : 'none', bytes: wire };
}

function change(draft: Draft, kind: MutationKind, text: string, random: Random): void {
  const times = random.chance(70) ? 1 : random.between(2, 3);
  let changed = text;
  for (let time = 0; time < times; time += 1) {
    if (kind === 'headers') changeHeaders(draft, random);
    if (kind === 'bytes') draft.body = changeBytes(draft.body, random);
    if (kind === 'json') changed = changeJson(changed, random);
  }
  if (kind === 'json') draft.body = Buffer.from(changed);
  if (kind === 'framing' && random.chance(60)) changeFraming(draft, random);
}

/** The whole draft as one text, to detect whether a mutation had an effect. */
function contentOf({ method, target, version, headers, framing, body }: Draft): string {
  return JSON.stringify([method, target, version, headers, framing, body.toString('latin1')]);
}

const pagePaths = Object.keys(pages);

function draftOf(stage: Stage, text: string, digest: string, random: Random): Draft {
  const isPage = random.chance(2);
  return {
    method: isPage ? random.pick(['GET', 'GET', 'HEAD']) : 'POST',
    target: isPage ? random.pick(pagePaths) : `/${stage}`,
    version: 'HTTP/1.1',
    headers: [
      ['host', '127.0.0.1'],
      ['authorization', `Bearer ${token}`],
      ['content-type', 'application/json'],
      ['x-ap-gr-policy-id', fuzzPolicy.id],
      ['x-ap-gr-policy-revision', fuzzPolicy.revision],
      ['x-ap-gr-bundle-digest', digest],
      ['x-ap-gr-content-profile', profile],
      ['x-ap-gr-response-mode', random.chance(80) ? 'buffered' : 'sse-reject'],
    ],
    framing: random.chance(88) ? 'length' : 'chunked',
    body: Buffer.from(text),
  };
}

function write({ method, target, version, headers, framing, body }: Draft, random: Random): Buffer {
  const announced = [...headers];
  if (framing === 'length') announced.push(['content-length', String(body.length)]);
  if (framing === 'chunked') announced.push(['transfer-encoding', 'chunked']);
  const lines = announced.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const head = Buffer.from(`${method} ${target} ${version}\r\n${lines}\r\n`, 'latin1');
  return Buffer.concat([head, framing === 'chunked' ? chunksOf(body, random) : body]);
}

const extensions = ['', '', '', ';a=b', ';a', ';a="b c"'] as const;
const trailers = ['', '', '', 'x: y\r\n', 'x-ap-gr-policy-id: other\r\n', 'content-length: 5\r\n'] as const;

function chunksOf(body: Buffer, random: Random): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length; ) {
    const chunk = body.subarray(at, at + random.between(1, Math.max(1, body.length)));
    parts.push(Buffer.from(`${chunk.length.toString(16)}${random.pick(extensions)}\r\n`), chunk, Buffer.from('\r\n'));
    at += chunk.length;
  }
  return Buffer.concat([...parts, Buffer.from(`0\r\n${random.pick(trailers)}\r\n`)]);
}
