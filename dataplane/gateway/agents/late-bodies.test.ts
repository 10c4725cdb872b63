import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { digestOf } from '#contracts/canonical';
import { until } from '#kit/testing/until';
import { RelationsUnavailableError } from '#relations/ports';
import { type AgentPlaneWorld, agentId, routedVersion, startAgentPlane } from './testing/start-agent-plane.ts';

const parts = new AsyncDisposableStack();
afterAll(() => parts.disposeAsync());

/**
 * A plane whose runs have their rights checked again once these are this old, milliseconds, or as old as in production.
 */
async function open(rightsAgeMs: number | undefined, runs?: Parameters<typeof startAgentPlane>[0]) {
  const bounds = rightsAgeMs === undefined ? {} : { rightsAgeMs };
  const world = parts.use(await startAgentPlane(runs, [], undefined, undefined, bounds));
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
  ])('a run with a late body does not begin for a caller of %s that %s', async (path, what, status, code) => {
    const { world, reached } = await open(0);
    const end = await begin(world, path);
    if (what.startsWith('has')) world.fault = new RelationsUnavailableError();
    else world.rights.clear();
    if (what.startsWith('may')) world.allow('ann', 'view');
    expect([await end(), reached()]).toEqual([[status, code], 0]);
  });

  test('a run whose body arrives late does not begin after its agent was removed', async () => {
    const { world, reached } = await open(0);
    const end = await begin(world, 'mcp');
    world.removeRoute();
    expect([await end(), reached()]).toEqual([[404, 'not_found'], 0]);
  });

  test('a run whose body arrives late does not begin after its route became unusable', async () => {
    const { world, reached } = await open(0);
    const end = await begin(world, 'mcp');
    const other = await world.startProcess();
    await world.serve({ versions: [routedVersion(other)] }, 'copy');
    expect([await end(), reached()]).toEqual([[503, 'agent_unavailable'], 0]);
  });

  test('a run whose body arrives late begins for a caller that still has the right', async () => {
    const { world, reached } = await open(0);
    const end = await begin(world, 'mcp');
    expect([await end(), reached(), world.asked.length]).toEqual([[200, undefined], 1, 2]);
  });
});

test('the rights of a run whose body arrives in time are checked once', async () => {
  const { world, reached } = await open(Number.POSITIVE_INFINITY);
  const end = await begin(world, 'mcp');
  world.rights.clear();
  expect([await end(), reached(), world.asked.length]).toEqual([[200, undefined], 1, 1]);
});

test('the rights of a run whose body takes more than a second are checked twice', async () => {
  const { world, reached } = await open(undefined);
  const end = await begin(world, 'mcp');
  await pause(1_001);
  world.rights.clear();
  expect([await end(), reached(), world.asked.length > 1]).toEqual([[404, 'not_found'], 0, true]);
});

test('a run whose client leaves while its right is checked again is not sent and no longer counts', async () => {
  const { world, reached } = await open(0, { atOnce: 1, perMinute: 100 });
  const answered = Promise.withResolvers<void>();
  world.whileAsked = async () => {
    if (world.asked.length === 2) await answered.promise;
  };
  const token = await world.personToken('ann');
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  const sent = request(`${world.url}/agents/${agentId}/mcp`, { method: 'POST', headers });
  sent.on('error', () => undefined).end('{"jsonrpc":"2.0"}');
  await until('the right is asked for again', () => world.asked.length === 2);
  const ended = () => world.gateway.log().includes('agent_call_ended');
  const closed = new Promise((resolve) => sent.once('close', resolve));
  sent.destroy();
  await closed;
  // The gateway learns it before it answers two more requests.
  for (let at = 0; at < 2; at += 1) await (await fetch(`${world.url}/.well-known/jwks.json`)).text();
  answered.resolve();
  await until('the call has ended', ended);
  expect(reached()).toBe(0);
  expect((await world.call(`/agents/${agentId}/mcp`, { token, body: '{"jsonrpc":"2.0"}' })).status).toBe(200);
});
