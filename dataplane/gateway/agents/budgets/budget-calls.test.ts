import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { digestOf } from '#contracts/canonical';
import type { Subject } from '#identity/identity';
import type { ScriptedHttp } from '#kit/testing/scripted-http';
import { until } from '#kit/testing/until';
import { agentSubject } from '#relations/subject';
import { exchangeGrant } from '../testing/exchange-grant.ts';
import {
  type AgentPlaneWorld,
  agentId,
  gatewayIssuer,
  peopleIssuer,
  routedVersion,
  startAgentPlane,
} from '../testing/start-agent-plane.ts';
import { BudgetsUnavailableError, type RunUse, type UsedBudget } from './ports.ts';

const path = `/agents/${agentId}/mcp`;
const body = '{"jsonrpc":"2.0"}';
const helperId = '01890a5d-ac96-774b-bcce-b302099a8077';
const used: (readonly [string, Subject, RunUse])[] = [];
const taken: (readonly [string, Subject])[] = [];
let outcome: UsedBudget | undefined | 'away';
let world: AgentPlaneWorld;
let process: ScriptedHttp;

beforeAll(async () => {
  world = await startAgentPlane(undefined, [], {
    async take(agent, person) {
      taken.push([agent, person]);
      if (outcome === 'away') throw new BudgetsUnavailableError();
      return outcome;
    },
    async use(agent, person, amounts) {
      used.push([agent, person, amounts]);
      if (outcome === 'away') throw new BudgetsUnavailableError();
    },
  });
  process = await world.startProcess();
  for (const agent of [agentId, helperId]) world.allow('ann', 'invoke', agent);
  world.rights.add(`${agentSubject({ issuer: gatewayIssuer, subject: agentId })} invoke agent:${helperId}`);
  await world.serve({ versions: [routedVersion(process, { requires: [{ kind: 'Agent', name: 'helper' }] })] });
  await world.serve({ agentId: helperId, versions: [routedVersion(process)] }, 'helper');
});
afterAll(() => world?.[Symbol.asyncDispose]());
beforeEach(() => {
  outcome = undefined;
  taken.length = 0;
  used.length = 0;
  process.forget();
});

const call = async (more: object = {}) =>
  await world.call(path, { token: await world.personToken('ann'), body, ...more });
const runs = () => process.seen.filter(({ method }) => method === 'POST').length;

test('a run whose person has used the budget is refused with 429 and the time to wait, and reaches no process', async () => {
  outcome = { limit: 'tokens', span: 'day', retryAfterSeconds: 4_321 };
  const answer = await call();
  expect([answer.status, answer.headers.get('retry-after'), runs()]).toEqual([429, '4321', 0]);
  expect(await answer.json()).toMatchObject({ code: 'budget_used' });
  outcome = undefined;
  expect([(await call()).status, runs()]).toEqual([200, 1]);
});

test('the end of an MCP session counts as no run, so that it is possible with an exhausted budget', async () => {
  outcome = { limit: 'runs', span: 'day', retryAfterSeconds: 60 };
  const token = await world.personToken('ann');
  expect((await world.call(path, { token, method: 'DELETE' })).status).toBe(200);
  expect(process.seen.map(({ method, headers }) => [method, headers['x-portcullis-run-grant']])).toEqual([
    ['DELETE', undefined],
  ]);
  expect(taken).toEqual([]);
});

test('the bytes of the request and of the answer of a run count for its person', async () => {
  process.play((response) => void response.end('{"done":1}'));
  expect((await call()).status).toBe(200);
  await until('the bytes are counted', async () => (used.length > 0 ? true : undefined));
  const bytes = body.length + '{"done":1}'.length;
  expect(used).toEqual([[agentId, { issuer: peopleIssuer, subject: 'ann' }, { tokens: 0, bytes }]]);
});

test('the bytes of a subscription and of a read of a task count for its person, and neither is refused or counted as a run', async () => {
  const card = { name: 'question' };
  const tasks = await world.startProcess((response, { path: asked }) => {
    if (asked === '/.well-known/agent-card.json') return response.end(JSON.stringify(card));
    if (asked.endsWith(':subscribe')) response.writeHead(200, { 'content-type': 'text/event-stream' });
    return response.end('data: {}\n\n');
  });
  const versions = [routedVersion(tasks, { modes: ['A2A'], cardDigest: digestOf(card) })];
  await world.serve({ agentId: helperId, versions }, 'helper');
  outcome = { limit: 'bytes', span: 'day', retryAfterSeconds: 60 };
  const token = await world.personToken('ann');
  for (const task of ['tasks/one:subscribe', 'tasks/one']) {
    used.length = 0;
    const answer = await world.call(`/agents/${helperId}/${task}`, { token, method: 'GET' });
    expect([answer.status, await answer.text()]).toEqual([200, 'data: {}\n\n']);
    await until('the bytes are counted', () => used.length > 0);
    const ann = { issuer: peopleIssuer, subject: 'ann' };
    expect(used).toEqual([[helperId, ann, { tokens: 0, bytes: 'data: {}\n\n'.length }]]);
  }
  expect(taken).toEqual([]);
  const served = [routedVersion(process)];
  await world.serve({ agentId: helperId, versions: served }, 'helper');
});

test('while the budgets cannot be read no run starts', async () => {
  outcome = 'away';
  const answer = await call();
  expect([answer.status, runs()]).toEqual([503, 0]);
  expect(await answer.json()).toMatchObject({ code: 'budget_unavailable' });
});

test('a call that is not admitted uses nothing of a budget', async () => {
  expect((await call({ token: await world.personToken('bob') })).status).toBe(404);
  expect((await call({ token: undefined })).status).toBe(401);
  expect(taken).toEqual([]);
});

test('a call of another agent counts for the person for whom it is made, with the agent that is called', async () => {
  expect((await call()).status).toBe(200);
  const grant = String(process.seen.at(-1)?.headers['x-portcullis-run-grant']);
  const { json } = await exchangeGrant(world.url, { grant, audience: 'urn:portcullis:agent:helper' });
  const token = String(json['access_token']);
  expect((await world.call(`/agents/${helperId}/mcp`, { token, body })).status).toBe(200);
  const ann = { issuer: peopleIssuer, subject: 'ann' };
  expect(taken).toEqual([
    [agentId, ann],
    [helperId, ann],
  ]);
});
