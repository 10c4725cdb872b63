import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ScriptedHttp } from '#kit/testing/scripted-http';
import { exchangeGrant } from './testing/exchange-grant.ts';
import { type AgentPlaneWorld, agentId, routedVersion, startAgentPlane } from './testing/start-agent-plane.ts';

const missingId = '01890a5d-ac96-774b-bcce-b302099a8011';
const models = 'urn:portcullis:models';
let world: AgentPlaneWorld;
let process: ScriptedHttp;

/** How many requests of one caller, and exchanges of one run, are admitted while the clock does not advance. */
const [requestsAtOnce, tradesAtOnce] = [400, 1_000];

beforeAll(async () => {
  const bounds = { requestClock: () => 0 };
  world = await startAgentPlane({ atOnce: 16, perMinute: 1 }, [], undefined, undefined, bounds);
  process = await world.startProcess();
  await world.serve({ versions: [routedVersion(process, { requires: [{ kind: 'Model', name: 'small' }] })] });
  for (const person of ['ann', 'bob']) world.allow(person, 'invoke');
});
afterAll(() => world?.[Symbol.asyncDispose]());
beforeEach(() => {
  world.asked.length = 0;
});

type Seen = { readonly status: number };

/**
 * Repeats a request, some at a time, until it is refused with 429. Returns a refused answer and the number of the
 * accepted ones.
 */
async function untilRefused<Answer extends Seen>(
  send: (at: number) => Promise<Answer>,
): Promise<{ readonly answer: Answer; readonly before: number }> {
  let before = 0;
  for (let at = 0; ; at += 40) {
    const answers = await Promise.all(Array.from({ length: 40 }, (_, more) => send(at + more)));
    before += answers.filter(({ status }) => status !== 429).length;
    const answer = answers.find(({ status }) => status === 429);
    if (answer !== undefined) return { answer, before };
  }
}

async function send(...call: Parameters<AgentPlaneWorld['call']>) {
  const answer = await world.call(...call);
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

/** The grant of a new run of a person. */
async function grantOf(person: string): Promise<string> {
  const call = { token: await world.personToken(person), body: '{"jsonrpc":"2.0"}' };
  expect((await world.call(`/agents/${agentId}/mcp`, call)).status).toBe(200);
  return String(process.seen.at(-1)?.headers['x-portcullis-run-grant']);
}

test('a caller with too many requests gets 429 without a check of rights, the same for a hidden and a missing agent', async () => {
  const refusals: object[] = [];
  for (const [person, id] of [
    ['eve', agentId],
    ['mallory', missingId],
  ] as const) {
    world.asked.length = 0;
    const token = await world.personToken(person);
    const headers = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
    const path = `/agents/${id}/message:send`;
    const { answer, before } = await untilRefused(() => send(path, { token, body: '{}', headers }));
    // A caller without a right costs two questions.
    expect([before, world.asked.length]).toEqual([requestsAtOnce, 2 * requestsAtOnce]);
    const { text } = answer;
    refusals.push({ text, names: [...answer.headers.keys()].sort(), wait: answer.headers.get('retry-after') });
  }
  expect(refusals[0]).toEqual(refusals[1]);
  expect(refusals[0]).toMatchObject({ text: expect.stringContaining('"code":"rate_limited"'), wait: '1' });
  expect(process.seen.filter(({ method }) => method === 'POST')).toEqual([]);
});

test('reads of runs, paths of no agent and calls over MCP count as requests of their caller', async () => {
  const paths = [`/agents/${agentId}/runs`, '/agents/none', `/agents/${agentId}/mcp`];
  const token = await world.personToken('reader');
  const { answer, before } = await untilRefused((at) => send(paths[at % 3] ?? '', { token, method: 'GET' }));
  expect([before, answer.text]).toEqual([requestsAtOnce, expect.stringContaining('rate_limited')]);
});

test('a run may get many tokens in a burst, even of an agent of which its person may start one run in a minute', async () => {
  const grant = await grantOf('bob');
  const trades = Array.from({ length: 40 }, () => exchangeGrant(world.url, { grant, audience: models }));
  expect(new Set((await Promise.all(trades)).map(({ status }) => status))).toEqual(new Set([200]));
});

test('a run that requests too many tokens gets 429 without a check of rights', async () => {
  const grant = await grantOf('ann');
  world.asked.length = 0;
  const { answer, before } = await untilRefused(() => exchangeGrant(world.url, { grant, audience: models }));
  expect(answer).toMatchObject({ status: 429, json: { error: 'temporarily_unavailable' } });
  expect([before, world.asked.length]).toEqual([tradesAtOnce, tradesAtOnce]);
  const metrics = await (await fetch(`${world.gateway.service.adminUrl}/metrics`)).text();
  expect(metrics).toMatch(
    /^portcullis_gateway_token_exchanges_total\{outcome="rate_limited",service="gateway"\} [1-9]\d*$/m,
  );
});
