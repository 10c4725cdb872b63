import { expect, test } from 'vitest';
import { makeBatches } from './make-batches.ts';
import type { MutationKind } from './make-request.ts';
import { type Foretold, foretell } from './reference-runtime.ts';
import type { FuzzReport } from './run-fuzz.ts';
import { emptyTally, type Tally } from './tally.ts';
import { verdictOf } from './verdict.ts';

const digest = 'd'.repeat(64);
const head = [
  'host: runtime',
  'authorization: Bearer service-token-of-the-fuzzer',
  'content-type: application/json',
  'x-ap-gr-policy-id: fuzz',
  'x-ap-gr-policy-revision: 7',
  `x-ap-gr-bundle-digest: ${digest}`,
  'x-ap-gr-content-profile: gateway-1.5.0-chat-webhook-v2',
  'x-ap-gr-response-mode: buffered',
];

function requestOf(body: string, lines: readonly string[] = head, first = 'POST /request HTTP/1.1'): string {
  return [first, ...lines, `content-length: ${Buffer.byteLength(body)}`, '', body].join('\r\n');
}

function bodyOf(...contents: readonly string[]): string {
  return JSON.stringify({ body: { messages: contents.map((content) => ({ role: 'user', content })) } });
}

function without(name: string, ...more: readonly string[]): readonly string[] {
  return [...head.filter((line) => !line.startsWith(`${name}:`)), ...more];
}

const foretold = (text: string): Foretold => foretell(Buffer.from(text), digest);
const good = requestOf(bodyOf('hello'));

test.each<[string, string, string]>([
  ['a good request', good, 'policy_pass'],
  ['a denied text', requestOf(bodyOf('a forbidden-portal')), 'policy_denied'],
  ['a denied word', requestOf(bodyOf('a тайна, that')), 'policy_denied'],
  ['a part of a word', requestOf(bodyOf('тайный')), 'policy_pass'],
  ['a masked text', requestOf(bodyOf('call 1234-5678')), 'content_redacted'],
  ['too many matches', requestOf(bodyOf('harbour '.repeat(9))), 'match_limit'],
  ['the maximum number of matches', requestOf(bodyOf('harbour '.repeat(8))), 'content_redacted'],
  ['no messages', requestOf(bodyOf()), 'message_limit'],
  ['nine messages', requestOf(bodyOf(...'123456789')), 'message_limit'],
  ['eight messages', requestOf(bodyOf(...'12345678')), 'policy_pass'],
  ['one member more', requestOf('{"body":{"messages":[{"role":"u","content":"x","name":"y"}]}}'), 'invalid_payload'],
  ['a role of 33', requestOf(bodyOf('x').replace('user', 'r'.repeat(33))), 'invalid_payload'],
  ['a key twice', requestOf('{"body":{"messages":[{"role":"u","role":"u","content":"x"}]}}'), 'invalid_json'],
  ['half a pair', requestOf(bodyOf('x').replace('"x"', '"\\ud83d"')), 'invalid_json'],
  ['a comma too many', requestOf(bodyOf('x').replace(']', ',]')), 'invalid_json'],
  ['the maximum number of bytes', requestOf(bodyOf('x'.repeat(1_996))), 'policy_pass'],
  ['one byte more', requestOf(bodyOf('x'.repeat(1_997))), 'body_too_large'],
  ['no token', requestOf(bodyOf('x'), without('authorization')), 'unauthenticated'],
  ['a revision twice', requestOf(bodyOf('x'), [...head, 'x-ap-gr-policy-revision: 7']), 'untrusted_context'],
  ['no mode', requestOf(bodyOf('x'), without('x-ap-gr-response-mode')), 'untrusted_context'],
  ['another type', requestOf(bodyOf('x'), without('content-type', 'content-type: text/plain')), 'unsupported_media'],
  ['an encoding', requestOf(bodyOf('x'), [...head, 'content-encoding: identity']), 'unsupported_media'],
  ['another revision', requestOf(bodyOf('x')).replace('revision: 7', 'revision: 8'), 'policy_unavailable'],
  ['another path', requestOf(bodyOf('x'), head, 'POST /v1/check HTTP/1.1'), 'not_found'],
  ['another method', requestOf(bodyOf('x'), head, 'PUT /request HTTP/1.1'), 'method_not_allowed'],
  ['no host', requestOf(bodyOf('x'), without('host')), 'invalid_json'],
  ['two lengths', requestOf(bodyOf('x'), [...head, 'content-length: 1']), 'invalid_json'],
])('the oracle of the fuzzer predicts the documented answer for %s', (_, text, told) => {
  expect(foretold(text).expected.map((one) => one.told)).toEqual([[told]]);
});

test('the oracle of the fuzzer reads several requests of one connection in order', () => {
  const { expected, end } = foretold(`${good}${requestOf('{')}${good}`);
  expect(expected.map(({ told }) => told)).toEqual([['policy_pass'], ['invalid_json'], ['policy_pass']]);
  expect(end).toBe('open');
  expect(foretold(`${good}nonsense\r\n\r\n`)).toMatchObject({ end: 'breaks', expected: [{}, { malformed: true }] });
  expect(foretold(requestOf(bodyOf('x'), [...head, 'connection: close'])).end).toBe('closes');
});

test('the fuzzer generates the same round for the same seed, and another round for another seed', () => {
  const bytes = (seed: number, round: number): string =>
    Buffer.concat(makeBatches(seed, round, digest).flatMap(({ pieces }) => pieces)).toString('hex');
  const rounds = Array.from({ length: 50 }, (_, round) => bytes(5, round));
  expect(rounds.map((_, round) => bytes(5, round))).toEqual(rounds);
  expect(new Set(rounds).size).toBe(50);
  expect(rounds.map((_, round) => bytes(6, round))).not.toEqual(rounds);
});

const kinds: readonly MutationKind[] = ['headers', 'bytes', 'json', 'framing'];

function report(change: Partial<Tally> = {}, more: Partial<FuzzReport> = {}): FuzzReport {
  const tally: Tally = { ...emptyTally(), malformed: 600, ...change };
  if (change.judged === undefined) for (const kind of kinds) tally.judged[kind] = 250;
  return { tally, connections: 10, crashed: false, memory: { before: 100, after: 110 }, ...more };
}

test('the fuzz figure passes only when each of its parts passes', () => {
  const bounds = { requests: 1_000, growth: 1.1 };
  const problems = (change: Partial<Tally>, more?: Partial<FuzzReport>) =>
    verdictOf(report(change, more), bounds).length;
  expect(verdictOf(report(), bounds)).toEqual([]);
  expect(problems({ outsideContract: 1 })).toBe(1);
  expect(problems({ malformedPassed: 1 })).toBe(1);
  expect(problems({ malformed: 149 })).toBe(1);
  expect([problems({ late: 1 }), problems({ late: 2 })]).toEqual([0, 1]);
  expect([problems({ unanswered: 100 }), problems({ unanswered: 101 })]).toEqual([0, 1]);
  expect(problems({ judged: { headers: 500, bytes: 250, json: 250, framing: 10 } })).toBe(1);
  expect(problems({ judged: { headers: 249, bytes: 250, json: 250, framing: 250 } })).toBe(1);
  expect(problems({}, { crashed: true })).toBe(1);
  expect(problems({}, { memory: { before: 100, after: 111 } })).toBe(1);
  expect(problems({}, { memory: { before: Number.NaN, after: 100 } })).toBe(1);
});
