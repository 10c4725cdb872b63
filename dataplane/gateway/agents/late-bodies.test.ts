import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterAll, describe, expect, test } from 'vitest';
import { digestOf } from '#contracts/canonical';
import { until } from '#kit/testing/until';
import { RelationsUnavailableError } from '#relations/ports';
import { type AgentPlaneWorld, agentId, routedVersion, startAgentPlane } from './testing/start-agent-plane.ts';

const parts = new AsyncDisposableStack();
afterAll(() => parts.disposeAsync());

/** A plane whose runs ask for rights again once these are as old, milliseconds. */
async function open(rightsAgeMs: number) {
  const world = parts.use(await startAgentPlane(undefined, [], undefined, undefined, { rightsAgeMs }));
  const card = { name: 'question' };
  const process = await world.startProcess((response) => void response.end(JSON.stringify(card)));
  const modes = ['A2A' as const, 'MCP' as const];
  await world.serve({ versions: [routedVersion(process, { modes, cardDigest: digestOf(card) })] });
  world.allow('ann', 'invoke');
  world.asked.length = 0;
  return { world, reached: () => process.seen.filter(({ method }) => method !== 'GET').length };
}

/** Begins a call of ann whose body ends only when the returned function is called, which returns status and code of the answer. */
async function begin(world: AgentPlaneWorld, path: string) {
  const headers = {
    'content-type': 'application/json',
    'a2a-version': '1.0',
    authorization: `Bearer ${await world.personToken('ann')}`,
  };
  const sent = request(`${world.url}/agents/${agentId}/${path}`, { method: 'POST', headers });
  const answered = once(sent, 'response');
  sent.write('{');
  await until('the rights of the caller are known', () => world.asked.length === 1);
  return async () => {
    sent.end('"jsonrpc":"2.0"}');
    const [answer] = (await answered) as [IncomingMessage];
    const text = (await answer.toArray()).join('');
    return [answer.statusCode, /"code":"([a-z_]+)"/.exec(text)?.[1]];
  };
}

describe('a run whose body arrives after the rights of its caller are too old', () => {
  test.each([
    ['mcp', 'lost the right', 404, 'not_found'],
    ['message:send', 'lost the right', 404, 'not_found'],
    ['mcp', 'may view the agent only', 403, 'forbidden'],
    ['mcp', 'has rights that cannot be asked for', 503, 'authorization_unavailable'],
  ])('does not begin for a caller of %s that %s', async (path, what, status, code) => {
    const { world, reached } = await open(0);
    const end = await begin(world, path);
    if (what.startsWith('has')) world.fault = new RelationsUnavailableError();
    else world.rights.clear();
    if (what.startsWith('may')) world.allow('ann', 'view');
    expect([await end(), reached()]).toEqual([[status, code], 0]);
  });

  test('begins for a caller that still has the right', async () => {
    const { world, reached } = await open(0);
    const end = await begin(world, 'mcp');
    expect([await end(), reached(), world.asked.length]).toEqual([[200, undefined], 1, 2]);
  });
});

test('a run whose body arrives in time is not asked about twice', async () => {
  const { world, reached } = await open(Number.POSITIVE_INFINITY);
  const end = await begin(world, 'mcp');
  world.rights.clear();
  expect([await end(), reached(), world.asked.length]).toEqual([[200, undefined], 1, 1]);
});
