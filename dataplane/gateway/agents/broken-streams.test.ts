import { afterAll, beforeAll, expect, test } from 'vitest';
import { digestOf } from '#contracts/canonical';
import { type Script, type ScriptedHttp, streams } from '#kit/testing/scripted-http';
import { type AgentPlaneWorld, agentId, routedVersion, startAgentPlane } from './testing/start-agent-plane.ts';

const card = { name: 'question' };
const atOnce = 2;
const event = 'data: {}\n\n';

let world: AgentPlaneWorld;
let process: ScriptedHttp;
let answer: Script;

beforeAll(async () => {
  world = await startAgentPlane({ atOnce, perMinute: 10_000 });
  process = await world.startProcess((response, request) =>
    request.method === 'GET' ? response.end(JSON.stringify(card)) : answer(response, request),
  );
  await world.serve({ versions: [routedVersion(process, { modes: ['A2A'], cardDigest: digestOf(card) })] });
  for (const person of ['ann', 'bob']) world.allow(person, 'invoke');
});
afterAll(() => world?.[Symbol.asyncDispose]());

const stream = async (person: string): Promise<Response> =>
  await world.call(`/agents/${agentId}/message:stream`, { token: await world.personToken(person), body: '{}' });

test('a stream that the process broke off no longer counts as a run', async () => {
  answer = streams([event], 'reset', { contentType: 'text/event-stream' });
  for (let at = 0; at < 2 * atOnce; at += 1) {
    const broken = await stream('ann');
    expect([at, broken.status]).toEqual([at, 200]);
    expect(await broken.text()).toContain('event: error\ndata: ');
  }
});

test('a stream that its client left counts until the process ends the run', async () => {
  answer = streams([event], 'silence', { contentType: 'text/event-stream' });
  for (let at = 0; at < atOnce; at += 1) await (await stream('bob')).body?.cancel();
  const refused = await stream('bob');
  expect(refused.status).toBe(429);
  expect(await refused.text()).toContain('too_many_runs');
});
