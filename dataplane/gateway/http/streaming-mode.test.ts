import { afterAll, beforeAll, expect, test } from 'vitest';
import { routeGuard, routeSpec, storedRoute } from '../testing/route-builder.ts';
import { served } from '../testing/start-gateway.ts';
import { says, startWorld, type World, words } from '../testing/start-world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
  const endpoint = `${world.upstream.url}/v1`;
  const pin = { ...world.policy.pin, addresses: [world.checks.url] };
  const unjudged = routeGuard(pin, undefined, { streaming: { allowed: false, rule: 'long' } });
  const put = (alias: string, guard: object, streaming: 'Allowed' | 'Refused') =>
    world.gateway.routes.put(storedRoute(alias, { ...routeSpec(alias, endpoint, guard as never), streaming }));
  put('allowed', unjudged, 'Allowed');
  put('refused', routeGuard(pin), 'Refused');
  put('refused-unguarded', { mode: 'None' }, 'Refused');
  await served(world.gateway, ['allowed', 'refused', 'refused-unguarded']);
});
afterAll(() => world[Symbol.asyncDispose]());

async function stream(model: string, content = 'fine'): Promise<{ status: number; text: string }> {
  world.upstream.play({ kind: 'answer', content });
  const answer = await world.chat({ model, ...says('hi'), stream: true });
  return { status: answer.status, text: await answer.text() };
}

test('a binding in the mode Allowed serves streams that a rule cannot judge, and judges their windows', async () => {
  expect(await stream('allowed')).toMatchObject({ status: 200, text: expect.stringContaining('[DONE]') });
  const { text } = await stream('allowed', words.deniedOutput);
  expect(text).toContain('guardrail_blocked');
  expect(text).not.toContain('[DONE]');
});

test.each(['refused', 'refused-unguarded'])('a binding in the mode Refused refuses streams: %s', async (model) => {
  const before = world.upstream.seen.length;
  const { status, text } = await stream(model);
  expect(status).toBe(400);
  expect(JSON.parse(text).error).toMatchObject({ code: 'streaming_refused', param: 'stream' });
  expect(world.upstream.seen.length).toBe(before);
  expect((await world.chat({ model, ...says('hi'), stream: false })).status).toBe(200);
});
