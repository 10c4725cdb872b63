import { afterAll, beforeAll, expect, test } from 'vitest';
import { maxChecks } from '../chat/text-bounds.ts';
import { routeGuard, routeSpec, storedRoute } from '../testing/route-builder.ts';
import { served } from '../testing/start-gateway.ts';
import { says, startWorld, type World } from '../testing/start-world.ts';

let world: World;

beforeAll(async () => {
  world = await startWorld();
  const pin = { ...world.policy.pin, addresses: [world.checks.url] };
  const spec = routeSpec('single', `${world.upstream.url}/v1`, routeGuard(pin, undefined, { maxMessages: 1 }));
  world.gateway.routes.put(storedRoute('single', { ...spec, judge: ['toolDefinitions'] }));
  await served(world.gateway, ['single']);
});
afterAll(() => world[Symbol.asyncDispose]());

test('a request that needs more than 1,024 checks is refused before its first check', async () => {
  // The message is a separate check.
  const tools = [
    { type: 'function', function: { name: 'f', parameters: { enum: new Array(maxChecks - 1).fill('a') } } },
  ];
  const checks = world.checks.seen.length;
  const asked = world.upstream.seen.length;
  const answer = await world.post('/v1/chat/completions', { model: 'single', ...says('hi'), tools });
  expect(answer.status).toBe(413);
  expect(await answer.json()).toEqual({
    error: {
      message: 'The texts of the request need more than 1,024 checks: send fewer or shorter texts in one request.',
      type: 'invalid_request_error',
      param: null,
      code: 'too_many_checks',
    },
  });
  expect(world.checks.seen.length).toBe(checks);
  expect(world.upstream.seen.length).toBe(asked);
});
