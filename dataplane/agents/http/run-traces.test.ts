import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tracedRunListSchema, tracedRunSchema } from '#contracts/agent-runs';
import { createTestKey } from '#identity/testing/test-issuer';
import { mintWorkloadToken } from '#identity/workload-token';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { agentBundle } from '../testing/agent-bundle.ts';
import { errorCodeOf, messageOf, type RunningAgent, startAgent } from '../testing/start-agent.ts';

const issuer = 'https://gateway.example';
const secret = 'a text of a person';
const parts = new AsyncDisposableStack();
let agent: RunningAgent;
let as: (subject: string, operation: string) => Promise<Record<string, string>>;

beforeAll(async () => {
  const folder = parts.use(temporaryFolder()).path;
  const key = await createTestKey('EdDSA', 'gateway-1');
  const file = join(folder, 'jwks.json');
  writeFileSync(file, JSON.stringify({ keys: [key.jwk] }));
  const bundle = agentBundle();
  const { agentId, versionId } = bundle;
  agent = parts.use(await startAgent({ bundle, config: { identity: { mode: 'production', issuer, keys: { file } } } }));
  as = async (name, operation) => {
    const subject = { issuer: 'https://people.example', subject: name };
    const token = await mintWorkloadToken({ key, issuer, agentId, versionId, subject, actors: [], operation });
    return { authorization: `Bearer ${token}`, 'x-user-id': '' };
  };
  for (const name of ['ann', 'bob']) await send(name, messageOf({ text: secret }));
});
afterAll(() => parts.disposeAsync());

async function send(name: string, message: object) {
  return await agent.call('POST', '/message:send', message, await as(name, 'message:send'));
}

async function listed(name: string, operation: string) {
  const path = operation === 'runs:all' ? '/runs/all' : '/runs/own';
  const answer = await agent.call('GET', path, undefined, { ...(await as(name, operation)), 'a2a-version': '' });
  expect([answer.status, answer.text.includes(secret), answer.text.includes(name)]).toEqual([200, false, false]);
  return tracedRunListSchema.parse(answer.json);
}

test('a trace has the nodes of a run with start, duration and outcome, and no text of the run', async () => {
  const { all, runs } = await listed('ann', 'runs:own');
  expect([all, runs.length]).toEqual([false, 1]);
  const answer = await agent.call('GET', `/runs/own/${runs[0]?.runId}`, undefined, await as('ann', 'runs:own'));
  expect(answer.text).not.toContain(secret);
  const node = { startedMs: expect.any(Number), durationMs: expect.any(Number), attempts: 1, outcome: 'ok' };
  expect(tracedRunSchema.parse(answer.json)).toEqual({
    ...runs[0],
    code: 'none',
    nodes: [
      { path: 'start', kind: 'input', ...node },
      { path: 'end', kind: 'output', ...node },
    ],
    omittedNodes: 0,
  });
});

test('the gateway token determines whose runs are read: those of its caller, or all for the owner of the agent', async () => {
  const all = await listed('ann', 'runs:all');
  expect([all.all, all.runs.length]).toEqual([true, 2]);
  const [ofBob] = (await listed('bob', 'runs:own')).runs;
  const path = `/runs/own/${ofBob?.runId}`;
  const hidden = await agent.call('GET', path, undefined, await as('ann', 'runs:own'));
  expect([hidden.status, errorCodeOf(hidden)]).toEqual([404, 'run_not_found']);
  const absent = `/runs/own/${crypto.randomUUID()}`;
  const missing = await agent.call('GET', absent, undefined, await as('ann', 'runs:own'));
  expect([missing.status, errorCodeOf(missing)]).toEqual([404, 'run_not_found']);
  const own = await as('ann', 'runs:own');
  const other = await agent.call('GET', '/runs/all', undefined, own);
  expect([other.status, errorCodeOf(other)]).toEqual([401, 'unauthenticated']);
  expect((await agent.call('POST', '/runs/own', {}, await as('ann', 'runs:own'))).status).toBe(405);
  expect((await agent.call('GET', '/runs/other', undefined, await as('ann', 'runs:own'))).status).toBe(404);
});

test('in development mode headers select the runs of a person, and without headers all runs are read', async () => {
  await using plain = await startAgent({ bundle: agentBundle() });
  await plain.call('POST', '/message:send', messageOf({ text: secret }));
  expect((await plain.call('GET', '/runs/own')).json).toMatchObject({ all: false, runs: [{ code: 'none' }] });
  expect((await plain.call('GET', '/runs/own', undefined, { 'x-user-id': 'bob' })).json).toMatchObject({ runs: [] });
  const all = await plain.call('GET', '/runs/all');
  expect([all.status, errorCodeOf(all)]).toEqual([403, 'forbidden']);
});
