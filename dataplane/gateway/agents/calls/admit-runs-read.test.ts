import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { digestOf } from '#contracts/canonical';
import type { ScriptedHttp } from '#kit/testing/scripted-http';
import { RelationsUnavailableError } from '#relations/ports';
import { RelationsModelError } from '#relations/relations-error';
import { authenticatedAll } from '#relations/tenant-object';
import {
  type AgentPlaneWorld,
  agentId,
  firstVersion,
  routedVersion,
  secondVersion,
  startAgentPlane,
} from '../testing/start-agent-plane.ts';

const runId = '01890a5d-ac96-774b-bcce-b302099a8099';
const missing = '01890a5d-ac96-774b-bcce-b302099a8011';
const card = { name: 'question' };
const a2a = { modes: ['A2A' as const], cardDigest: digestOf(card) };
let world: AgentPlaneWorld;
let process: ScriptedHttp;

beforeAll(async () => {
  world = await startAgentPlane();
  process = await world.startProcess((response) => void response.end(JSON.stringify(card)));
  world.allow('ann', 'owner');
  world.allow('bob', 'invoke');
  world.allow('vic', 'view');
});
afterAll(() => world?.[Symbol.asyncDispose]());
beforeEach(async () => {
  world.fault = undefined;
  await world.serve({ versions: [routedVersion(process, a2a)], exposure: 'R2' });
  process.forget();
  world.asked.length = 0;
});

async function read(person: string, path: string, method = 'GET') {
  const { status } = await world.call(path, {
    method,
    token: await world.personToken(person),
    headers: { 'content-type': '' },
  });
  const request = process.seen.find(({ path: seen = '' }) => seen.startsWith('/runs'));
  const token = request?.headers.authorization?.replace('Bearer ', '') ?? '';
  const { operation, sub } = token === '' ? {} : decodeJwt<{ operation: string }>(token);
  process.forget();
  return { status, path: request?.path, operation, sub };
}

const runs = `/agents/${agentId}/runs`;
const ofVersion = `/agents/${agentId}/versions/${firstVersion}/runs`;

test('with only the gateway token, the owner of an agent reads all runs of a version, and a caller reads its own', async () => {
  const all = { status: 200, path: '/runs/all', operation: 'runs:all', sub: 'ann' };
  expect(await read('ann', runs)).toEqual(all);
  expect(await read('ann', `${ofVersion}/${runId}?x=1`)).toEqual({ ...all, path: `/runs/all/${runId}` });
  const own = { status: 200, path: '/runs/own', operation: 'runs:own', sub: 'bob' };
  expect(await read('bob', runs)).toEqual(own);
  expect(await read('bob', `${ofVersion}/${runId}`)).toEqual({ ...own, path: `/runs/own/${runId}` });
});

test('a person without the right, a missing version and a path that names its own scope get the answer of a missing agent', async () => {
  const none = { status: 404, path: undefined, operation: undefined, sub: undefined };
  for (const path of [runs, ofVersion, `/agents/${missing}/runs`]) expect(await read('eve', path)).toEqual(none);
  const hidden = world.asked.filter((asked) => !asked.includes(missing)).length / 2;
  expect(world.asked.filter((asked) => asked.includes(missing))).toHaveLength(hidden);
  expect(await read('ann', `/agents/${agentId}/versions/${secondVersion}/runs`)).toEqual(none);
  for (const path of [`${runs}/all`, `${runs}/own/${runId}`]) expect(await read('bob', path)).toEqual(none);
  expect(await read('vic', runs)).toEqual({ ...none, status: 403 });
  expect((await read('bob', runs, 'POST')).status).toBe(405);
});

test('the group of every caller reads runs of an agent over A2A, and none of a tool over MCP', async () => {
  world.rights.add(`${authenticatedAll}#member invoke agent:${agentId}`);
  expect((await read('eve', runs)).operation).toBe('runs:own');
  await world.serve({ versions: [routedVersion(process, { modes: ['MCP'] })] });
  expect((await read('eve', runs)).status).toBe(404);
  expect((await read('bob', runs)).operation).toBe('runs:own');
  await world.serve({ versions: [routedVersion(process, { modes: ['MCP'] })], exposure: 'R1' });
  expect((await read('bob', runs)).status).toBe(404);
  expect((await read('ann', runs)).operation).toBe('runs:all');
  world.rights.delete(`${authenticatedAll}#member invoke agent:${agentId}`);
});

test('runs are not read while the rights cannot be checked', async () => {
  for (const fault of [new RelationsUnavailableError(), new RelationsModelError('too_complex', 'too many groups')]) {
    world.fault = fault;
    expect((await read('ann', runs)).status).toBe(503);
  }
});

test('a person reads no runs after the agent has another owner', async () => {
  const [owns = ''] = [...world.rights].filter((right) => right.includes(' owner '));
  world.rights.delete(owns);
  expect((await read('ann', runs)).status).toBe(404);
  world.rights.add(owns);
  expect((await read('ann', runs)).status).toBe(200);
});
