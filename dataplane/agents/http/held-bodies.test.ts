import { request } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { createByteBudget } from '#kit/http/byte-budget';
import { until } from '#kit/testing/until';
import { openBuiltAgent } from '../testing/built-agent.ts';
import { errorCodeOf, messageOf } from '../testing/start-agent.ts';

const user = { 'x-user-id': 'ann', 'a2a-version': '1.0', 'content-type': 'application/json' };
const accept = { accept: 'application/json, text/event-stream' };
/** The first bytes of each body that do not count in the budget. */
const free = 65_536;

async function open(limit: number, waitMs: number) {
  const bodies = createByteBudget({ limit, largest: limit / 2, waitMs });
  const agent = await openBuiltAgent({ bodies });
  onTestFinished(() => agent[Symbol.asyncDispose]());
  const post = async (body: string, path = '/message:send') => {
    const answer = await fetch(`${agent.url}${path}`, { method: 'POST', headers: { ...user, ...accept }, body });
    const text = await answer.text();
    const json = answer.headers.get('content-type') === 'text/event-stream' ? {} : JSON.parse(text);
    return { status: answer.status, code: errorCodeOf({ json }) ?? json.code };
  };
  return { agent, bodies, post };
}

/** A message with this number of bytes. */
function bodyOf(bytes: number): string {
  const empty = JSON.stringify(messageOf({ text: '' })).length;
  return JSON.stringify(messageOf({ text: 'a'.repeat(bytes - empty) }));
}

test.each(['/message:send', '/message:stream', '/mcp'])(
  'a body of %s that does not fit into the budget of bodies in time is refused, and a small body is accepted',
  async (path) => {
    const { post, bodies } = await open(8_000, 1);
    expect(await post(bodyOf(free + 8_001), path)).toEqual({ status: 429, code: 'too_many_runs' });
    expect((await post(bodyOf(free), path)).status).not.toBe(429);
    expect((await post(bodyOf(free + 8_000), path)).status).not.toBe(429);
    await until('nothing is held', () => bodies.taken === 0);
  },
);

test('a body waits while unverified bodies use the budget, and a small body is answered', async () => {
  const { agent, bodies, post } = await open(50_000, 60_000);
  const body = bodyOf(free + 30_000);
  const partly = request(`${agent.url}/message:send`, {
    method: 'POST',
    headers: { ...user, 'content-length': body.length },
  });
  partly.on('error', () => undefined).write(body.slice(0, -1));
  await until('it holds its bytes', () => bodies.taken === 29_999);
  let isAnswered = false;
  const waiting = post(body).finally(() => {
    isAnswered = true;
  });
  for (let count = 0; count < 5; count += 1) expect(await post(bodyOf(1_000))).toMatchObject({ status: 200 });
  expect(isAnswered).toBe(false);
  partly.destroy();
  expect(await waiting).toMatchObject({ status: 200 });
});

test('a run in progress uses no bytes of the budget of bodies', async () => {
  const { agent, bodies, post } = await open(50_000, 60_000);
  const held = Promise.withResolvers<void>();
  agent.holdIdentities(held.promise);
  agent.upstream.play({ kind: 'silence' });
  const sent = request(`${agent.url}/message:send`, { method: 'POST', headers: user });
  sent.on('error', () => undefined).end(bodyOf(free + 30_000));
  await until('its identity is verified', () => agent.asked() === 1);
  expect(bodies.taken).toBe(30_000);
  held.resolve();
  await until('its run has begun', () => agent.upstream.seen.length === 1);
  expect(bodies.taken).toBe(0);
  agent.upstream.play({ kind: 'answer', content: 'fine' });
  expect(await post(bodyOf(free + 30_000))).toMatchObject({ status: 200 });
  sent.destroy();
});
