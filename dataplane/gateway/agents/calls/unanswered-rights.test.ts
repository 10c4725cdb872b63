import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ScriptedHttp } from '#kit/testing/scripted-http';
import { RelationsModelError } from '#relations/relations-error';
import { exchangeGrant } from '../testing/exchange-grant.ts';
import { type AgentPlaneWorld, agentId, routedVersion, startAgentPlane } from '../testing/start-agent-plane.ts';

// The user names of these subjects, encoded with `user:` and the issuer, have 512 and 513 characters.
const longest = `${'ж'.repeat(80)}ab`;
const tooLong = `${longest}c`;
let world: AgentPlaneWorld;
let process: ScriptedHttp;

beforeAll(async () => {
  world = await startAgentPlane();
  process = await world.startProcess();
  await world.serve({ versions: [routedVersion(process, { requires: [{ kind: 'Model', name: 'small' }] })] });
  world.allow('ann', 'invoke');
});
afterAll(() => world?.[Symbol.asyncDispose]());
beforeEach(() => {
  world.fault = undefined;
});

async function call(person: string, path = 'mcp') {
  const token = await world.personToken(person);
  const answer = await world.call(`/agents/${agentId}/${path}`, { token, body: '{"jsonrpc":"2.0"}' });
  const [, code] = /"code":"([a-z_]+)"/.exec(await answer.text()) ?? [];
  return [answer.status, code];
}

test('a person whose name is too long for the store of rights is not authenticated, and one with the longest name is', async () => {
  expect(await call(longest)).toEqual([404, 'not_found']);
  expect(await call(tooLong)).toEqual([401, 'unauthenticated']);
  const token = await world.personToken(tooLong);
  expect((await world.call(`/agents/${agentId}/runs`, { token, method: 'GET' })).status).toBe(401);
  expect(world.gateway.log()).not.toContain('agent_call_failed');
});

test('a person with more groups than the store of rights can follow gets 503, and so does its run', async () => {
  expect(await call('ann')).toEqual([200, undefined]);
  const grant = String(process.seen.at(-1)?.headers['x-portcullis-run-grant']);
  world.fault = new RelationsModelError('too_complex', 'too many groups');
  expect(await call('ann')).toEqual([503, 'authorization_unavailable']);
  const traded = await exchangeGrant(world.url, { grant, audience: 'urn:portcullis:models' });
  expect([traded.status, traded.json['error']]).toEqual([503, 'temporarily_unavailable']);
  expect(world.gateway.log()).not.toMatch(/agent_call_failed|token_exchange_failed/);
});
