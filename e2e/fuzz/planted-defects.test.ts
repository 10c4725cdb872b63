import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunningProcess } from '../support/start-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
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
/** Where nothing is to be found every answer comes, on a busy machine late. */
const longest = 30_000;
const pass = answerOf(200, '{"action":{"reason":"policy_pass"}}');
const deny = answerOf(
  200,
  '{"action":{"body":"Запрос отклонён политикой","status_code":403,"reason":"policy_denied"}}',
);
const traceId = '"traceId":"0af7651916cd43dd8448eb211c80319c"';

/** Sends until something was found, or all were judged; an answer that does not come is found after the patience. */
async function fuzz(alteration: Alteration, patienceMs = 2_000): Promise<Tally> {
  proxy.alter(alteration);
  const tally = emptyTally();
  const goesOn = () => tally.examples.length === 0;
  await sendChanged({ port: proxy.port, digest, seed: 11, requests, tally, goesOn, patienceMs });
  return tally;
}

/** Answers that hold a text, replaced as a whole. */
function whole(text: string, other: string): Alteration {
  return (answer) => (answer.includes(text) ? other : answer);
}

function part(from: string | RegExp, to: string): Alteration {
  return (answer) => answer.replace(from, to);
}

test('the fuzzer finds nothing in a correct runtime', async () => {
  const tally = await fuzz((answer) => answer, longest);
  expect(tally.examples).toEqual([]);
  expect(verdictOf({ tally, crashed: false, memory: undefined, connections: 1 }, { requests, growth: 1.1 })).toEqual(
    [],
  );
});

test.each<[string, Alteration]>([
  ['a broken request', (answer) => (answer.startsWith('HTTP/1.1 400') ? pass : answer)],
  ['a wrong shape', whole('invalid_payload', pass)],
  ['too many messages', whole('message_limit', pass)],
  ['a broken request, with an answer of no known shape', part('HTTP/1.1 400', 'HTTP/1.1 200')],
])('%s that is answered 200 is found', async (_, alteration) => {
  const tally = await fuzz(alteration);
  expect(tally.malformedPassed).toBeGreaterThan(0);
});

let turn = 0;
test.each<[string, Alteration]>([
  ['a deny that became a pass', whole('policy_denied', pass)],
  ['a pass that became a deny', whole('policy_pass', deny)],
  ['a mask that became a pass', whole('content_redacted', pass)],
  ['a mask that kept the text', part(/#/, '5')],
  ['a mask with another role', part('"role":"user"', '"role":"tool"')],
  ['a failure that became a pass', whole('match_limit', pass)],
  ['a body over the limit that became a pass', whole('body_too_large', pass)],
  ['a wrong token that became a pass', whole('unauthenticated', pass)],
  ['an untrusted context that became a pass', whole('untrusted_context', pass)],
  ['a wrong policy that became a pass', whole('policy_unavailable', pass)],
  ['another status', part('HTTP/1.1 422', 'HTTP/1.1 400')],
  ['another code', part('"code":"untrusted_context"', '"code":"policy_unavailable"')],
  ['an unknown code', whole('unsupported_media', answerOf(415, `{"code":"other","message":"x",${traceId}}`))],
  ['another status of a deny', part('"status_code":403', '"status_code":200')],
  ['a message of its own', part('The JSON has the wrong shape.', 'A text of the request, as it.')],
  ['a trace id that is none', part(/"traceId":"[0-9a-f]{32}"/, `"traceId":"${'0'.repeat(32)}"`)],
  ['one member more', whole('policy_pass', answerOf(200, '{"action":{"reason":"policy_pass"},"meta":{}}'))],
  ['one member more of the action', whole('policy_pass', answerOf(200, '{"action":{"reason":"policy_pass","x":1}}'))],
  [
    'a key that is there twice',
    whole('policy_pass', answerOf(200, '{"action":{"reason":"policy_denied","reason":"policy_pass"}}')),
  ],
  ['bytes that are no JSON', whole('invalid_payload', answerOf(422, '{"code":'))],
  ['a header that invites a retry', part('\r\n', '\r\nretry-after: 1\r\n')],
  ['a trace id of a success', part('\r\n', '\r\nx-trace-id: 0af7651916cd43dd8448eb211c80319c\r\n')],
  ['a header that is there twice', part('\r\n', '\r\ncontent-type: application/json\r\n')],
  ['another media type', part('application/json', 'text/html')],
  ['a page of another media type', part('text/plain; version', 'text/html; version')],
  ['no allowed methods', part(/\r\nallow: [^\r]*/i, '')],
  ['no length', part(/\r\ncontent-length: \d+/i, '')],
  ['another protocol', part('HTTP/1.1', 'HTTP/1.0')],
  ['an answer that comes twice', (answer) => answer + answer],
  ['an answer that is lost', (answer) => (++turn % 40 === 0 ? '' : answer)],
  ['an answer that is cut short', (answer) => (++turn % 40 === 0 ? answer.slice(0, -5) : answer)],
  ['a connection that ends for nothing', part(/connection: keep-alive/i, 'connection: close')],
])('%s is found', async (_, alteration) => {
  const tally = await fuzz(alteration);
  expect(tally.outsideContract).toBeGreaterThan(0);
  expect(tally.examples[0]).toMatch(/^round \d+: /);
});

test('a runtime that answers overloaded to everything does not count as correct', async () => {
  const late = answerOf(
    503,
    `{"code":"stage_timeout","message":"The stage took longer than its deadline.",${traceId}}`,
  );
  const tally = await fuzz(whole('"code":"invalid_payload"', late), longest);
  expect(tally.examples).toEqual([]);
  const problems = verdictOf({ tally, crashed: false, memory: undefined, connections: 1 }, { requests, growth: 1.1 });
  expect(problems).toEqual(['too many refused for time']);
});

test('a process that exits during the requests is reported as a crash', async () => {
  using own = temporaryFolder();
  const started = await startFuzzedRuntime(own.path);
  await using victim = started.runtime;
  const tally = emptyTally();
  const port = Number(new URL(victim.url).port);
  const goesOn = () => {
    if (judgedOf(tally) > 200) victim.child.kill('SIGKILL');
    return victim.child.signalCode === null;
  };
  expect(await hasCrashed(victim)).toBe(false);
  await sendChanged({ port, digest: started.digest, seed: 11, requests, tally, goesOn });
  expect(judgedOf(tally)).toBeLessThan(requests);
  expect(await hasCrashed(victim)).toBe(true);
});
