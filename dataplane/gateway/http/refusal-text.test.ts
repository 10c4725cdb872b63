import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { routeGuard, routeSpec, storedRoute } from '../testing/route-builder.ts';
import { blockedError, says, startWorld, type World, words } from '../testing/start-world.ts';
import { eventsOf } from '../testing/stream-script.ts';

const refusalText = 'Please ask the service desk: "no"\ndata: {}';
let world: World;

beforeAll(async () => {
  world = await startWorld();
  const pin = { ...world.policy.pin, addresses: [world.checks.url] };
  const guard = routeGuard(pin, undefined, { refusalText });
  world.gateway.routes.put(storedRoute('polite', routeSpec('polite', `${world.upstream.url}/v1`, guard)));
  await until('the route is served', async () => (await world.chat({ model: 'polite', ...says('hi') })).status === 200);
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => world.upstream.play({ kind: 'answer', content: 'fine' }));

/** Programs read code and type: they are the same for every denied text. */
const refused = { error: { ...blockedError.error, message: refusalText } };

test('a denied request gets the refusal text of its policy, with the status, type and code of every denied text', async () => {
  const answer = await world.chat({ model: 'polite', ...says(words.deniedInput) });
  expect(answer.status).toBe(403);
  expect(answer.headers.get('x-should-retry')).toBe('false');
  expect(await answer.json()).toEqual(refused);
  const other = await world.chat({ model: 'model', ...says(words.deniedInput) });
  expect(await other.json()).toEqual(blockedError);
});

test('denied embeddings and a denied complete answer get the refusal text', async () => {
  const embeddings = await world.post('/v1/embeddings', { model: 'polite', input: words.deniedInput });
  expect({ status: embeddings.status, body: await embeddings.json() }).toEqual({ status: 403, body: refused });
  world.upstream.play({ kind: 'answer', content: words.deniedOutput });
  const answer = await world.chat({ model: 'polite', ...says('hi') });
  expect({ status: answer.status, body: await answer.json() }).toEqual({ status: 403, body: refused });
});

test('a stream that is denied ends with the refusal text in one frame', async () => {
  world.upstream.play({ kind: 'answer', content: words.deniedOutput });
  const answer = await world.chat({ model: 'polite', ...says('hi'), stream: true });
  const events = eventsOf(await answer.text());
  expect(JSON.parse(events.at(-1) ?? '')).toEqual(refused);
  expect(events.filter((event) => event === '{}')).toEqual([]);
});

test('the error of a failed check does not contain the refusal text of the policy', async () => {
  world.checks.inject({ kind: 'reset' });
  const answer = await world.chat({ model: 'polite', ...says('hi') });
  expect(answer.status).toBe(503);
  expect(await answer.text()).not.toContain('service desk');
  world.checks.inject({ kind: 'pass' });
});
