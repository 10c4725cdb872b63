import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { digestOf } from '#contracts/canonical';
import { type Script, type ScriptedHttp, startScriptedHttp } from '#kit/testing/scripted-http';
import { until } from '#kit/testing/until';
import { agentSubject } from '#relations/subject';
import { exchangeGrant } from './testing/exchange-grant.ts';
import {
  type AgentPlaneWorld,
  agentId,
  firstVersion,
  gatewayIssuer,
  routedVersion,
  secondVersion,
  startAgentPlane,
} from './testing/start-agent-plane.ts';
import { startJudgedImage, terms } from './testing/start-judged-image.ts';

const plannerId = '01890a5d-ac96-774b-bcce-b302099a8079';
let world: AgentPlaneWorld;
let image: Awaited<ReturnType<typeof startJudgedImage>>;
let planner: ScriptedHttp;

beforeAll(async () => {
  world = await startAgentPlane();
  for (const agent of [agentId, plannerId]) world.allow('ann', 'invoke', agent);
  const caller = agentSubject({ issuer: gatewayIssuer, subject: plannerId });
  world.rights.add(`${caller} invoke agent:${agentId}`);
  image = await startJudgedImage(world);
  await image.serve('A2A');
  planner = await world.startProcess();
  const requires = [{ kind: 'Agent' as const, name: 'question' }];
  await world.serve({ agentId: plannerId, versions: [routedVersion(planner, { requires })] }, 'planner');
});
afterAll(async () => {
  await image?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

/** A token of a run of the planner for a call of the image. */
async function agentToken(): Promise<string> {
  const token = await world.personToken('ann');
  await world.call(`/agents/${plannerId}/mcp`, { token, body: '{"jsonrpc":"2.0"}' });
  const grant = String(planner.seen.at(-1)?.headers['x-portcullis-run-grant']);
  const { json } = await exchangeGrant(world.url, { grant, audience: 'urn:portcullis:agent:question' });
  return String(json['access_token']);
}

/** The code of the answer and the usage that its header reports. */
async function ask(token: string, text = 'hello', operation = 'message:send') {
  const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text }] };
  const answer = await world.call(`/agents/${agentId}/${operation}`, { token, body: JSON.stringify({ message }) });
  const [, code] = /"code":"([a-z_]+)"/.exec(await answer.text()) ?? [];
  return [code, answer.headers.get('x-portcullis-run-usage')];
}

const saying =
  (text: string): Script =>
  (response) =>
    response.end(JSON.stringify({ message: { messageId: randomUUID(), role: 'ROLE_AGENT', parts: [{ text }] } }));
const nothing = 'nodes=0,modelTokens=0,outputBytes=0';

/** Runs of the image that the gateway has counted. */
async function countedRuns(): Promise<number> {
  const metrics = await (await fetch(`${world.gateway.service.adminUrl}/metrics`)).text();
  const [, count] = /^portcullis_gateway_agent_runs_total\{[^}]*agent="question"[^}]*\} (\d+)$/m.exec(metrics) ?? [];
  return Number(count ?? 0);
}

test('an agent whose call is refused before an image has received it learns that no run has started', async () => {
  image.play(saying('fine'));
  expect(await ask(await agentToken(), terms.denied)).toEqual(['guardrail_denied', nothing]);
  expect(await ask(await world.personToken('ann'), terms.denied)).toEqual(['guardrail_denied', null]);
});

test.each<[string, string, Script]>([
  ['is denied', 'guardrail_denied', saying(terms.denied)],
  ['is no message', 'answer_refused', (response) => response.end('no message')],
  ['breaks off', 'agent_unavailable', (response) => response.destroy()],
])('an agent that calls an image whose answer %s does not learn that no run has started', async (_, code, script) => {
  image.play(script);
  expect(await ask(await agentToken())).toEqual([code, null]);
});

test('a run whose answer is denied is counted as started, and a call that is denied before its run is not counted', async () => {
  image.play(saying(terms.denied));
  const before = await countedRuns();
  const token = await world.personToken('ann');
  await ask(token, terms.denied);
  await ask(token);
  await until('the run is counted', async () => (await countedRuns()) > before);
  expect(await countedRuns()).toBe(before + 1);
});

test('an agent that calls a version on trial learns which one it is, where the task of its call is found', async () => {
  const card = { name: 'question' };
  const trial = await world.startProcess((response, { path }) => {
    if (path === '/.well-known/agent-card.json') return response.end(JSON.stringify(card));
    return response.end(JSON.stringify({ task: { id: 'one', status: { state: 'TASK_STATE_WORKING' } } }));
  });
  const common = { modes: ['A2A' as const], cardDigest: digestOf(card) };
  await world.serve({
    versions: [
      routedVersion(trial, { ...common, versionId: firstVersion }),
      routedVersion(trial, { ...common, versionId: secondVersion }),
    ],
    canary: { versionId: secondVersion, percent: 99 },
  });
  const send = async (token: string) => {
    const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hello' }] };
    const answer = await world.call(`/agents/${agentId}/message:send`, { token, body: JSON.stringify({ message }) });
    return [answer.status, answer.headers.get('x-portcullis-agent-version')];
  };
  const token = await agentToken();
  expect(await send(token)).toEqual([200, secondVersion]);
  expect(await send(await world.personToken('ann'))).toEqual([200, null]);
  const read = { token, method: 'GET' };
  const ofVersion = await world.call(`/agents/${agentId}/versions/${secondVersion}/tasks/one`, read);
  expect([ofVersion.status, trial.seen.at(-1)?.path]).toEqual([200, '/tasks/one']);
  await image.serve('A2A');
});

test('an agent that calls a process without a listener learns that no run has started', async () => {
  const token = await agentToken();
  const process = await startScriptedHttp((response) => void response.end('{}'));
  await world.serve({ versions: [routedVersion(process)] });
  expect(await ask(token, 'hello', 'mcp')).toEqual([undefined, null]);
  await process[Symbol.asyncDispose]();
  await until('the connections of the process are closed', async () => {
    const [code, used] = await ask(token, 'hello', 'mcp');
    expect(code).toBe('agent_unavailable');
    return used === nothing;
  });
});
