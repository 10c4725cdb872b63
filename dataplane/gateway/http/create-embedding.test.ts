import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { routeGuard, routeSpec, storedRoute } from '../testing/route-builder.ts';
import { clientKey, served } from '../testing/start-gateway.ts';
import { blockedError, startWorld, type World, words } from '../testing/start-world.ts';

let world: World;
const vectors = '{"object":"list","data":[{"index":0,"embedding":[0.5]}]}';

beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => {
  world.upstream.forget();
  world.upstream.play({ kind: 'raw', body: vectors, contentType: 'application/json' });
});

const embed = (input: unknown, model = 'model'): Promise<Response> => world.post('/v1/embeddings', { model, input });
const sent = (): unknown => JSON.parse(world.upstream.seen.at(-1)?.text ?? 'null');

test('every input of an embeddings request is judged, and one deny refuses the request', async () => {
  const answer = await embed(['fine', `a ${words.deniedInput}`]);
  expect(answer.status).toBe(403);
  expect(await answer.json()).toEqual(blockedError);
  expect(world.upstream.seen).toEqual([]);
});

test('embeddings inputs that a policy masks are embedded masked, and the others unchanged', async () => {
  const answer = await embed(['fine', `pay ${words.maskedInput}`]);
  expect(await answer.text()).toBe(vectors);
  expect(sent()).toEqual({ model: 'upstream-model', input: ['fine', 'pay ***'] });
  expect(world.upstream.seen.at(-1)?.path).toBe('/v1/embeddings');
  await embed(words.maskedInput);
  expect(sent()).toEqual({ model: 'upstream-model', input: '***' });
});

test('embeddings inputs that exceed one check are checked in several checks, and a deny in the last one refuses the request', async () => {
  const before = world.checks.seen.length;
  const inputs = Array.from({ length: 100 }, (_, index) => `text ${index}`);
  expect((await embed(inputs)).status).toBe(200);
  expect(world.checks.seen.length - before).toBe(4);
  expect((await embed([...inputs, words.deniedInput])).status).toBe(403);
  const masked = [...inputs, words.maskedInput];
  expect((await embed(masked)).status).toBe(200);
  expect(sent()).toEqual({ model: 'upstream-model', input: [...inputs, '***'] });
});

test('arrays of tokens and inputs too large for any check are refused', async () => {
  expect((await embed([1, 2, 3])).status).toBe(400);
  expect((await embed(['fine', 'x'.repeat(40_000)])).status).toBe(413);
  expect(world.upstream.seen).toEqual([]);
});

test('an unguarded model embeds every input unchanged', async () => {
  expect((await embed([1, 2, 3], 'open')).status).toBe(200);
  expect(sent()).toEqual({ model: 'upstream-model', input: [1, 2, 3] });
});

test('GET /v1/models lists the models that this replica serves', async () => {
  const { routes, service, secretsDirectory } = world.gateway;
  const list = async (): Promise<unknown> =>
    (await fetch(`${service.url}/v1/models`, { headers: { authorization: `Bearer ${clientKey}` } })).json();
  const entry = (id: string) => ({ id, object: 'model', created: 1_767_323_045, owned_by: 'portcullis' });
  expect(await list()).toEqual({ object: 'list', data: [entry('model'), entry('open'), entry('whole')] });
  const endpoint = `${world.upstream.url}/v1`;
  routes.put(storedRoute('off', routeSpec('off', endpoint, { mode: 'None' }, { state: 'Disabled' })));
  expect(await list()).toEqual({ object: 'list', data: [entry('model'), entry('open'), entry('whole')] });
  expect((await embed('x', 'off')).status).toBe(403);

  await writeFile(join(secretsDirectory, 'provider-key'), 'sk-provider\n');
  const upstream = { provider: 'p', endpoint: `${endpoint}/?version=2`, model: 'm', credential: 'provider-key' };
  routes.put(storedRoute('off', routeSpec('on', endpoint, { mode: 'None' }, { upstream })));
  expect((await embed('x', 'on')).status).toBe(200);
  expect(world.upstream.seen.at(-1)?.headers.authorization).toBe('Bearer sk-provider');
  expect(world.upstream.seen.at(-1)?.headers['accept-encoding']).toBe('identity');
  expect(world.upstream.seen.at(-1)?.path).toBe('/v1/embeddings?version=2');
  const missing = { ...upstream, credential: 'not-there' };
  routes.put(storedRoute('off', routeSpec('on', endpoint, { mode: 'None' }, { upstream: missing })));
  expect((await embed('x', 'on')).status).toBe(502);
  expect(world.upstream.seen).toHaveLength(1);
});

test.each([
  ['an error as a success', '{"error":{"message":"the provider says"}}'],
  ['an error beside data', '{"object":"list","data":[],"error":{"message":"the provider says"}}'],
  ['a chat answer', '{"choices":[{"index":0,"message":{"role":"assistant","content":"the provider says"}}]}'],
  ['text', '"the provider says"'],
  ['text that is not JSON', 'the provider says'],
])('a response with %s of a provider is not forwarded', async (_, body) => {
  world.upstream.play({ kind: 'raw', body, contentType: 'application/json' });
  const answer = await embed('fine');
  const text = await answer.text();
  expect(answer.status).toBe(502);
  expect(text).not.toContain('the provider says');
  expect(JSON.parse(text)).toMatchObject({ error: { type: 'upstream_error', code: 'upstream_invalid' } });
});

describe('text of a provider in an answer that has none', () => {
  const ranking = {
    results: [{ index: 0, relevance_score: 0.5 }],
    model: 'Some Model (new)',
    usage: { total_tokens: 3 },
  };
  const embedded = { object: 'list', data: [{ index: 0, embedding: [0.5] }], model: 'Some Model (new)' };
  const cases = [
    ['/v1/embeddings', { input: 'fine' }, embedded],
    ['/v1/rerank', { query: 'q', documents: ['d'] }, ranking],
  ] as const;
  const ask = async (path: string, model: string, request: object, body: object) => {
    world.upstream.play({ kind: 'raw', body: JSON.stringify(body), contentType: 'application/json' });
    const answer = await world.post(path, { model, ...request });
    return { status: answer.status, text: await answer.text() };
  };

  test.each(cases)(
    'at %s unexpected text of a provider is refused where the binding refuses text that is not judged, and only there',
    async (path, request, body) => {
      const pin = { ...world.policy.pin, addresses: [world.checks.url] };
      const spec = routeSpec('strict', `${world.upstream.url}/v1`, routeGuard(pin), { unjudged: 'Refuse' });
      world.gateway.routes.put(storedRoute('strict', spec));
      await served(world.gateway, ['strict']);
      expect(await ask(path, 'strict', request, body)).toMatchObject({ status: 200 });
      const noted = { ...body, note: 'the provider writes' };
      const refused = await ask(path, 'strict', request, noted);
      expect(refused).toMatchObject({ status: 502, text: expect.stringContaining('unjudged_answer') });
      expect(refused.text).not.toContain('the provider');
      expect(await ask(path, 'model', request, noted)).toMatchObject({ status: 200 });
    },
  );
});
