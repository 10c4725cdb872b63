import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import type { RunningProcess } from '../support/start-process.ts';
import { type Alteration, type AlteringProxy, answerOf, startAlteringProxy } from './altering-proxy.ts';
import { hasCrashed, startFuzzedRuntime } from './run-fuzz.ts';
import { sendChanged } from './send-changed.ts';
import { emptyTally, judgedOf, type Tally } from './tally.ts';
import { verdictOf } from './verdict.ts';

const folder = temporaryFolder();
let runtime: RunningProcess;
let digest: string;
let proxy: AlteringProxy;
beforeAll(async () => {
  ({ runtime, digest } = await startFuzzedRuntime(folder.path));
  proxy = await startAlteringProxy(Number(new URL(runtime.url).port));
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await runtime[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const requests = 1_500;
/** Without a planted defect every answer arrives, even if it is late on a busy machine. */
const longest = 30_000;
const pass = answerOf(200, '{"action":{"reason":"policy_pass"}}');
const deny = answerOf(
  200,
  '{"action":{"body":"Запрос отклонён политикой","status_code":403,"reason":"policy_denied"}}',
);
const traceId = '"traceId":"0af7651916cd43dd8448eb211c80319c"';

type Finding = 'malformedPassed' | 'outsideContract';
const findings: readonly Finding[] = ['malformedPassed', 'outsideContract'];

/**
 * Sends requests until one of these findings occurs or all requests were judged; a missing answer becomes a finding
 * after the time limit. A dropped or repeated answer shifts the following answers of the connection, which can cause a
 * finding of the other kind first.
 */
async function fuzz(alteration: Alteration, awaited: readonly Finding[], patienceMs = 2_000): Promise<Tally> {
  proxy.alter(alteration);
  const tally = emptyTally();
  const goesOn = () => awaited.every((finding) => tally[finding] === 0);
  await sendChanged({ port: proxy.port, digest, seed: 11, requests, tally, goesOn, patienceMs });
  return tally;
}

/** Answers that contain a text are replaced as a whole. */
function whole(text: string, other: string): Alteration {
  return (answer) => (answer.includes(text) ? other : answer);
}

function part(from: string | RegExp, to: string): Alteration {
  return (answer) => answer.replace(from, to);
}

test('the fuzzer reports no finding for a correct runtime', async () => {
  const tally = await fuzz((answer) => answer, findings, longest);
  expect(tally.examples).toEqual([]);
  expect(verdictOf({ tally, crashed: false, memory: undefined, connections: 1 }, { requests, growth: 1.1 })).toEqual(
    [],
  );
});

test.each<[string, Alteration]>([
  ['a broken request', (answer) => (answer.startsWith('HTTP/1.1 400') ? pass : answer)],
  ['a wrong shape', whole('invalid_payload', pass)],
  ['too many messages', whole('message_limit', pass)],
  ['a malformed request, with an answer of unknown shape', part('HTTP/1.1 400', 'HTTP/1.1 200')],
])('the fuzzer reports %s that is answered with 200', async (_, alteration) => {
  const tally = await fuzz(alteration, ['malformedPassed']);
  expect(tally.malformedPassed).toBeGreaterThan(0);
});

let turn = 0;
test.each<[string, Alteration]>([
  ['a deny that is altered to a pass', whole('policy_denied', pass)],
  ['a pass that is altered to a deny', whole('policy_pass', deny)],
  ['a mask that is altered to a pass', whole('content_redacted', pass)],
  ['a mask that keeps the original text', part(/#/, '5')],
  ['a mask with another role', part('"role":"user"', '"role":"tool"')],
  ['a failure that is altered to a pass', whole('match_limit', pass)],
  ['a body over the limit that is altered to a pass', whole('body_too_large', pass)],
  ['a wrong token that is altered to a pass', whole('unauthenticated', pass)],
  ['an untrusted context that is altered to a pass', whole('untrusted_context', pass)],
  ['a wrong policy that is altered to a pass', whole('policy_unavailable', pass)],
  ['another status', part('HTTP/1.1 422', 'HTTP/1.1 400')],
  ['another code', part('"code":"untrusted_context"', '"code":"policy_unavailable"')],
  ['an unknown code', whole('unsupported_media', answerOf(415, `{"code":"other","message":"x",${traceId}}`))],
  ['a deny with another status', part('"status_code":403', '"status_code":200')],
  ['an error with an unspecified message', part('The JSON has the wrong shape.', 'A text of the request, as it.')],
  ['an invalid trace id', part(/"traceId":"[0-9a-f]{32}"/, `"traceId":"${'0'.repeat(32)}"`)],
  ['one member more', whole('policy_pass', answerOf(200, '{"action":{"reason":"policy_pass"},"meta":{}}'))],
  [
    'an action with an additional member',
    whole('policy_pass', answerOf(200, '{"action":{"reason":"policy_pass","x":1}}')),
  ],
  [
    'a duplicate key',
    whole('policy_pass', answerOf(200, '{"action":{"reason":"policy_denied","reason":"policy_pass"}}')),
  ],
  ['a body that is not JSON', whole('invalid_payload', answerOf(422, '{"code":'))],
  ['a Retry-After header', part('\r\n', '\r\nretry-after: 1\r\n')],
  ['a trace id in a successful answer', part('\r\n', '\r\nx-trace-id: 0af7651916cd43dd8448eb211c80319c\r\n')],
  ['a duplicate header', part('\r\n', '\r\ncontent-type: application/json\r\n')],
  ['another media type', part('application/json', 'text/html')],
  ['a page with another media type', part('text/plain; version', 'text/html; version')],
  ['no allowed methods', part(/\r\nallow: [^\r]*/i, '')],
  ['no length', part(/\r\ncontent-length: \d+/i, '')],
  ['another protocol', part('HTTP/1.1', 'HTTP/1.0')],
  ['an answer that is sent twice', (answer) => answer + answer],
  ['a missing answer', (answer) => (++turn % 40 === 0 ? '' : answer)],
  ['a truncated answer', (answer) => (++turn % 40 === 0 ? answer.slice(0, -5) : answer)],
  ['a connection that is closed without a reason', part(/connection: keep-alive/i, 'connection: close')],
])('the fuzzer reports %s', async (_, alteration) => {
  const tally = await fuzz(alteration, ['outsideContract']);
  expect(tally.outsideContract).toBeGreaterThan(0);
  expect(tally.examples[0]).toMatch(/^round \d+: /);
});

test('a runtime that answers every request with overloaded fails the fuzz figure', async () => {
  const late = answerOf(
    503,
    `{"code":"stage_timeout","message":"The stage took longer than its deadline.",${traceId}}`,
  );
  const tally = await fuzz(whole('"code":"invalid_payload"', late), findings, longest);
  expect(tally.examples).toEqual([]);
  const problems = verdictOf({ tally, crashed: false, memory: undefined, connections: 1 }, { requests, growth: 1.1 });
  expect(problems).toEqual(['too many checks refused for overload or a deadline']);
});

test('the fuzzer reports a crash when the process exits during the requests', async () => {
  using own = temporaryFolder();
  const started = await startFuzzedRuntime(own.path);
  await using victim = started.runtime;
  const tally = emptyTally();
  const port = Number(new URL(victim.url).port);
  const goesOn = () => {
    if (judgedOf(tally) > 200) victim.signal('SIGKILL');
    return !victim.hasEnded();
  };
  expect(await hasCrashed(victim)).toBe(false);
  await sendChanged({ port, digest: started.digest, seed: 11, requests, tally, goesOn });
  expect(judgedOf(tally)).toBeLessThan(requests);
  expect(await hasCrashed(victim)).toBe(true);
});
