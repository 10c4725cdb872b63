import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ScriptedHttp } from '#kit/testing/scripted-http';
import { exchangeGrant } from './testing/exchange-grant.ts';
import { type AgentPlaneWorld, agentId, routedVersion, startAgentPlane } from './testing/start-agent-plane.ts';

const missingId = '01890a5d-ac96-774b-bcce-b302099a8011';
const models = 'urn:portcullis:models';
let world: AgentPlaneWorld;
let process: ScriptedHttp;

beforeAll(async () => {
  // Three requests at once, and then one in three seconds.
  world = await startAgentPlane({ atOnce: 16, perMinute: 1 });
  process = await world.startProcess();
  await world.serve({ versions: [routedVersion(process, { requires: [{ kind: 'Model', name: 'small' }] })] });
  world.allow('ann', 'invoke');
});
afterAll(() => world?.[Symbol.asyncDispose]());
beforeEach(() => {
  world.asked.length = 0;
});

/** Repeats a request until it is refused with 429, and returns that answer and the number of the others. */
async function untilRefused(
  send: () => Promise<Response>,
): Promise<{ readonly answer: Response; readonly before: number }> {
  for (let before = 0; ; before += 1) {
    const answer = await send();
    if (answer.status === 429) return { answer, before };
    await answer.text();
  }
}

test('a caller with too many requests gets 429 without a question about rights, the same for a hidden and a missing agent', async () => {
  const refusals: object[] = [];
  for (const [person, id] of [
    ['eve', agentId],
    ['mallory', missingId],
  ] as const) {
    world.asked.length = 0;
    const token = await world.personToken(person);
    const headers = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
    const { answer, before } = await untilRefused(() =>
      world.call(`/agents/${id}/message:send`, { token, body: '{}', headers }),
    );
    // A caller without a right costs two questions.
    expect([before >= 3, world.asked.length]).toEqual([true, 2 * before]);
    refusals.push({
      text: await answer.text(),
      names: [...answer.headers.keys()].sort(),
      wait: answer.headers.get('retry-after'),
    });
  }
  expect(refusals[0]).toEqual(refusals[1]);
  expect(refusals[0]).toMatchObject({ text: expect.stringContaining('"code":"rate_limited"'), wait: '3' });
  expect(process.seen.filter(({ method }) => method === 'POST')).toEqual([]);
});

test('reads of runs, paths of no agent and calls over MCP count as requests of their caller', async () => {
  for (const [at, path] of [`/agents/${agentId}/runs`, '/agents/none', `/agents/${agentId}/mcp`].entries()) {
    const token = await world.personToken(`reader-${at}`);
    const { answer } = await untilRefused(() => world.call(path, { token, method: 'GET' }));
    expect(await answer.text()).toContain('rate_limited');
  }
});

test('a run that asks for too many tokens gets 429 without a question about rights', async () => {
  const call = { token: await world.personToken('ann'), body: '{"jsonrpc":"2.0"}' };
  expect((await world.call(`/agents/${agentId}/mcp`, call)).status).toBe(200);
  const grant = String(process.seen.at(-1)?.headers['x-portcullis-run-grant']);
  world.asked.length = 0;
  let issued = 0;
  const trade = () => exchangeGrant(world.url, { grant, audience: models });
  let last = await trade();
  for (; last.status === 200; last = await trade()) issued += 1;
  expect(last).toMatchObject({ status: 429, json: { error: 'temporarily_unavailable' } });
  expect([issued >= 3, world.asked.length]).toEqual([true, issued]);
  const metrics = await (await fetch(`${world.gateway.service.adminUrl}/metrics`)).text();
  expect(metrics).toMatch(/^portcullis_gateway_token_exchanges_total\{outcome="rate_limited",service="gateway"\} 1$/m);
});
