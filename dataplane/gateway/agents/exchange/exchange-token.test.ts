import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { digestOf } from '#contracts/canonical';
import { openGatewayKeyRing } from '#identity/gateway-key-ring';
import { mintRunGrant } from '#identity/run-grant';
import type { ScriptedHttp } from '#kit/testing/scripted-http';
import { agentSubject, userSubject } from '#relations/subject';
import { authenticatedAll } from '#relations/tenant-object';
import type { RoutedVersion } from '#resources/agent-route';
import { exchangeGrant } from '../testing/exchange-grant.ts';
import {
  type AgentPlaneWorld,
  agentId,
  firstVersion,
  gatewayIssuer,
  peopleIssuer,
  routedVersion,
  secondVersion,
  startAgentPlane,
} from '../testing/start-agent-plane.ts';

const models = 'urn:portcullis:models';
const helper = 'urn:portcullis:agent:helper';
const helperId = '01890a5d-ac96-774b-bcce-b302099a8077';
const hiddenId = '01890a5d-ac96-774b-bcce-b302099a8078';
const requires: RoutedVersion['requires'] = [
  { kind: 'Model', name: 'small' },
  { kind: 'Agent', name: 'helper' },
];

let world: AgentPlaneWorld;
let process: ScriptedHttp;
const serveHelper = (id: string) => world.serve({ agentId: id, versions: [routedVersion(process)] }, 'helper');
const serveRequiring = (more: Partial<RoutedVersion>) => world.serve({ versions: [routedVersion(process, more)] });

beforeAll(async () => {
  world = await startAgentPlane();
  process = await world.startProcess();
  for (const agent of [agentId, helperId]) world.allow('ann', 'invoke', agent);
  const caller = agentSubject({ issuer: gatewayIssuer, subject: agentId });
  world.rights.add(`${caller} invoke agent:${helperId}`);
});
afterAll(() => world?.[Symbol.asyncDispose]());
beforeEach(async () => {
  world.whileAsked = undefined;
  await serveRequiring({ requires });
  await serveHelper(helperId);
  process.forget();
});

/** The grant of a run of the first version. */
async function beginRun(): Promise<string> {
  const call = { token: await world.personToken('ann'), body: '{"jsonrpc":"2.0"}' };
  expect((await world.call(`/agents/${agentId}/mcp`, call)).status).toBe(200);
  return String(process.seen.at(-1)?.headers['x-portcullis-run-grant']);
}

/** Exchanges the grant of a run while `change` happens between the question about rights on an agent and its answer. */
async function exchangeThrough(audience: string, change: () => Promise<void>, asked = agentId) {
  const grant = await beginRun();
  let changed: Promise<void> | undefined;
  world.whileAsked = async () => {
    if (world.asked.at(-1) !== `invoke agent:${asked}`) return;
    changed ??= change();
    await changed;
  };
  const { status, json } = await exchangeGrant(world.url, { grant, audience });
  return [status, json['error'] ?? json['token_type']];
}

test('a run whose version its route no longer lists gets tokens for what the version requires while no call reaches the version', async () => {
  const switched = () => serveRequiring({ versionId: secondVersion, requires: [] });
  expect(await exchangeThrough(models, switched)).toEqual([200, 'Bearer']);
  const call = { token: await world.personToken('ann'), body: '{"jsonrpc":"2.0"}' };
  expect((await world.call(`/agents/${agentId}/versions/${firstVersion}/mcp`, call)).status).toBe(404);
});

test('a run gets tokens for models and agents after its version has left the route, and none after the right of its person has ended', async () => {
  const grant = await beginRun();
  const own = `${userSubject({ issuer: peopleIssuer, subject: 'ann' })} invoke agent:${agentId}`;
  await serveRequiring({ versionId: secondVersion });
  for (const audience of [models, helper]) {
    expect(await exchangeGrant(world.url, { grant, audience })).toMatchObject({ status: 200 });
  }
  world.rights.delete(own);
  const refused = await exchangeGrant(world.url, { grant, audience: models });
  world.rights.add(own);
  expect(refused).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
});

test('a run of a version that another replica serves already gets tokens here, before and after its route is withdrawn', async () => {
  const away = routedVersion({ url: 'http://127.0.0.1:9' }, { versionId: secondVersion, requires });
  await world.announce({ versions: [away] });
  const grant = await mintRunGrant({
    key: await openGatewayKeyRing(world.signingKeysFile).signingKey(),
    issuer: gatewayIssuer,
    agentId,
    versionId: secondVersion,
    subject: { issuer: peopleIssuer, subject: 'ann' },
    actors: [],
    runId: randomUUID(),
    mode: 'A2A',
    budget: { nodes: 10, modelTokens: 1_000, outputBytes: 10_000 },
    timeoutMs: 20_000,
  });
  const statuses = async () => {
    const traded = [models, helper].map((audience) => exchangeGrant(world.url, { grant, audience }));
    return (await Promise.all(traded)).map(({ status }) => status);
  };
  expect(await statuses()).toEqual([200, 200]);
  await serveRequiring({ requires });
  expect(await statuses()).toEqual([200, 200]);
  const call = { token: await world.personToken('ann'), body: '{"jsonrpc":"2.0"}' };
  expect((await world.call(`/agents/${agentId}/versions/${secondVersion}/mcp`, call)).status).toBe(404);
});

test('a run gets no token after the route of its agent was removed, even when another route of the agent follows', async () => {
  const grant = await beginRun();
  const trade = () => exchangeGrant(world.url, { grant, audience: models });
  world.removeRoute();
  expect(await trade()).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
  await serveRequiring({ versionId: secondVersion, requires });
  expect(await trade()).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
});

test('a run gets no token for a model that its route no longer names after rights were checked', async () => {
  const change = () => serveRequiring({ versionId: firstVersion, requires: [] });
  expect(await exchangeThrough(models, change)).toEqual([400, 'invalid_target']);
});

test('a run gets no token for an agent that its route no longer names after the rights on that agent were checked', async () => {
  const change = () => serveRequiring({ versionId: firstVersion, requires: requires.slice(0, 1) });
  expect(await exchangeThrough(helper, change, helperId)).toEqual([400, 'invalid_target']);
});

test('a run gets no token for a hidden agent that takes the name of a permitted one while rights are checked', async () => {
  const change = () => serveHelper(hiddenId);
  expect(await exchangeThrough(helper, change, helperId)).toEqual([400, 'invalid_target']);
});

test('a run gets its token when no route changes while rights are checked', async () => {
  for (const audience of [models, helper]) {
    expect(await exchangeThrough(audience, async () => {})).toEqual([200, 'Bearer']);
  }
});

test('a run over MCP gets no token after the right of its caller has ended, and one over A2A does while every caller may invoke', async () => {
  const all = `${authenticatedAll}#member invoke agent:${agentId}`;
  const own = `${userSubject({ issuer: peopleIssuer, subject: 'eve' })} invoke agent:${agentId}`;
  const card = { name: 'question' };
  const both = await world.startProcess((response) => response.end(JSON.stringify(card)));
  const modes = ['A2A', 'MCP'] as const;
  await world.serve({ versions: [routedVersion(both, { requires, modes: [...modes], cardDigest: digestOf(card) })] });
  for (const right of [all, own]) world.rights.add(right);
  const begin = async (path: string): Promise<string> => {
    const call = { token: await world.personToken('eve'), body: '{"jsonrpc":"2.0"}' };
    expect((await world.call(`/agents/${agentId}/${path}`, call)).status).toBe(200);
    return String(both.seen.at(-1)?.headers['x-portcullis-run-grant']);
  };
  const [overMcp, overA2a] = [await begin('mcp'), await begin('message:send')];
  const trade = async (grant: string) => (await exchangeGrant(world.url, { grant, audience: models })).json;
  for (const grant of [overMcp, overA2a]) expect(await trade(grant)).toMatchObject({ token_type: 'Bearer' });
  world.rights.delete(own);
  expect(await trade(overMcp)).toMatchObject({ error: 'invalid_grant' });
  expect(await trade(overA2a)).toMatchObject({ token_type: 'Bearer' });
  world.rights.delete(all);
  expect(await trade(overA2a)).toMatchObject({ error: 'invalid_grant' });
});

const full = { nodes: 100_000, modelTokens: 2_000_000, outputBytes: 67_108_864 };
const claimsOf = (token: unknown) =>
  JSON.parse(Buffer.from(String(token).split('.')[1] ?? '', 'base64url').toString()) as {
    readonly budget: typeof full;
    readonly deadline: number;
  };

test('a token to call another agent has the budget that the run assigns, never more than the run has, and no later deadline', async () => {
  const call = { token: await world.personToken('ann'), body: '{"jsonrpc":"2.0"}' };
  expect((await world.call(`/agents/${agentId}/mcp`, call)).status).toBe(200);
  const grant = String(process.seen.at(-1)?.headers['x-portcullis-run-grant']);
  const own = JSON.parse(Buffer.from(grant.split('.')[1] ?? '', 'base64url').toString()) as {
    budget: typeof full;
    exp: number;
  };
  const ask = async (budget?: string) =>
    (await exchangeGrant(world.url, { grant, audience: helper, ...(budget === undefined ? {} : { budget }) })).json;
  const few = { nodes: 2, modelTokens: 3, outputBytes: 4 };
  expect(claimsOf((await ask(JSON.stringify(few)))['access_token'])).toMatchObject({ budget: few, deadline: own.exp });
  expect(claimsOf((await ask(JSON.stringify(full)))['access_token']).budget).toEqual(own.budget);
  expect(claimsOf((await ask())['access_token']).budget).toEqual(own.budget);
  for (const budget of [
    '',
    '{',
    '{"nodes":1}',
    JSON.stringify({ ...few, nodes: 0 }),
    JSON.stringify({ ...few, more: 1 }),
  ]) {
    expect((await ask(budget))['error']).toBe('invalid_request');
  }
});

test('the grant of a called run has the budget of its token and ends with the calling run; only agents are told the usage of runs', async () => {
  const call = { token: await world.personToken('ann'), body: '{"jsonrpc":"2.0"}' };
  await world.call(`/agents/${agentId}/mcp`, call);
  const grant = String(process.seen.at(-1)?.headers['x-portcullis-run-grant']);
  const few = { nodes: 2, modelTokens: 3, outputBytes: 4 };
  const traded = await exchangeGrant(world.url, { grant, audience: helper, budget: JSON.stringify(few) });
  const usage = 'nodes=1,modelTokens=0,outputBytes=2';
  process.play((response) => void response.setHeader('x-portcullis-run-usage', usage).end('{}'));
  const asked = await world.call(`/agents/${helperId}/mcp`, { ...call, token: String(traded.json['access_token']) });
  expect([asked.status, asked.headers.get('x-portcullis-run-usage')]).toEqual([200, usage]);
  const handed = claimsOf(process.seen.at(-1)?.headers['x-portcullis-run-grant']) as unknown as { exp: number };
  expect(handed).toMatchObject({ budget: few });
  expect(handed.exp).toBeLessThanOrEqual((claimsOf(grant) as unknown as { exp: number }).exp);
  const person = await world.call(`/agents/${agentId}/mcp`, call);
  expect(person.headers.get('x-portcullis-run-usage')).toBeNull();
});

test("the refusal of an agent's call states that nothing was used, and the refusal of a person's call does not", async () => {
  const call = { token: await world.personToken('ann'), body: '{"jsonrpc":"2.0"}' };
  await world.call(`/agents/${agentId}/mcp`, call);
  const grant = String(process.seen.at(-1)?.headers['x-portcullis-run-grant']);
  const traded = await exchangeGrant(world.url, { grant, audience: helper });
  const refused = await world.call(`/agents/${hiddenId}/mcp`, { ...call, token: String(traded.json['access_token']) });
  expect(refused.status).toBe(401);
  expect(refused.headers.get('x-portcullis-run-usage')).toBe('nodes=0,modelTokens=0,outputBytes=0');
  const other = await world.call(`/agents/${hiddenId}/mcp`, call);
  expect([other.status, other.headers.get('x-portcullis-run-usage')]).toEqual([404, null]);
});
