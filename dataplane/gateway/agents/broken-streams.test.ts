import { afterAll, beforeAll, expect, test } from 'vitest';
import { digestOf } from '#contracts/canonical';
import { type Script, type ScriptedHttp, streams } from '#kit/testing/scripted-http';
import { type AgentPlaneWorld, agentId, routedVersion, startAgentPlane } from './testing/start-agent-plane.ts';
import { startJudgedImage } from './testing/start-judged-image.ts';

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
  for (const person of ['ann', 'bob', 'carl', 'dora', 'erin', 'fred', 'gina']) world.allow(person, 'invoke');
});
afterAll(() => world?.[Symbol.asyncDispose]());

const serveFlow = () =>
  world.serve({ versions: [routedVersion(process, { modes: ['A2A'], cardDigest: digestOf(card) })] });

const body = JSON.stringify({ message: { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'hello' }] } });
const stream = async (person: string): Promise<Response> =>
  await world.call(`/agents/${agentId}/message:stream`, { token: await world.personToken(person), body });

/**
 * Starts as many streams as a person may have at a time. @returns the texts of the streams, and the status of one
 * stream more
 */
async function fill(person: string): Promise<readonly [texts: readonly string[], further: number]> {
  const texts: string[] = [];
  for (let at = 0; at < atOnce; at += 1) texts.push(await (await stream(person)).text());
  return [texts, (await stream(person)).status];
}

test('a stream of an image that the process broke off no longer counts as a run', async () => {
  await using image = await startJudgedImage(world);
  image.play(streams([event], 'reset', { contentType: 'text/event-stream' }));
  await image.serve('A2A', { guardrails: { input: { mode: 'None' }, output: { mode: 'None' } } });
  const [texts, further] = await fill('ann');
  expect([texts[0], further]).toEqual([expect.stringContaining('event: error\ndata: '), 200]);
});

test('a stream of a flow that broke off without an error no longer counts as a run, because its process was killed', async () => {
  await serveFlow();
  answer = streams([event], 'reset', { contentType: 'text/event-stream' });
  const [texts, further] = await fill('carl');
  expect([texts[0], further]).toEqual([expect.stringContaining('agent_unavailable'), 200]);
  answer = streams([event], 'end', { contentType: 'text/event-stream' });
  expect(await fill('dora')).toEqual([[event, event], 200]);
});

test('a stream that a process ended with an error and broke off ends with this error, and counts as a run', async () => {
  await serveFlow();
  const unread = 'event: error\ndata: {"error":{"code":408}}\n\n';
  for (const [person, sent] of [
    ['erin', [unread]],
    ['fred', [event, unread.slice(0, 20), unread.slice(20)]],
  ] as const) {
    answer = streams(sent, 'reset', { contentType: 'text/event-stream' });
    const text = sent.join('');
    expect(await fill(person)).toEqual([[text, text], 429]);
  }
  const inText = `data: ${JSON.stringify(unread)}\n\n`;
  answer = streams([inText], 'reset', { contentType: 'text/event-stream' });
  expect((await fill('gina'))[0][0]).toContain('agent_unavailable');
});

test('a stream that its client left counts until the process ends the run', async () => {
  await serveFlow();
  answer = streams([event], 'silence', { contentType: 'text/event-stream' });
  for (let at = 0; at < atOnce; at += 1) await (await stream('bob')).body?.cancel();
  const refused = await stream('bob');
  expect(refused.status).toBe(429);
  expect(await refused.text()).toContain('too_many_runs');
});
