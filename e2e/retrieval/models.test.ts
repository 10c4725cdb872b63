import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { createEchoService } from '../../dataplane/echo/service.ts';
import { routeGuard, routeSpec, storedRoute } from '../../dataplane/gateway/testing/route-builder.ts';
import { clientKey } from '../../dataplane/gateway/testing/start-gateway.ts';
import { startWorld, type World, words } from '../../dataplane/gateway/testing/start-world.ts';
import { createGatewayModels } from '../../libraries/models/gateway-models.ts';
import type { EmbeddingProfile, Models } from '../../libraries/models/ports.ts';

/** The client of models against a real gateway with a real guardrail and the echo provider. */
let world: World;
let models: Models;
const stack = new AsyncDisposableStack();

const profile: EmbeddingProfile = {
  id: 'echo-384',
  model: 'echo',
  dimension: 384,
  sendDimension: true,
  batch: 16,
  maxTokens: 512,
  queryPrefix: '',
  passagePrefix: '',
};
const ranker = { id: 'echo', model: 'echo', maxDocuments: 2 };
const prompt = { system: 'Answer in one word.', user: 'Москва' };

beforeAll(async () => {
  const echo = stack.use(await createEchoService({ host: '127.0.0.1', port: 0, chunkDelayMs: 0 }));
  world = stack.use(await startWorld());
  const { routes, service } = world.gateway;
  const endpoint = `${echo.url}/v1`;
  const pin = { ...world.policy.pin, addresses: [world.checks.url] };
  routes.put(storedRoute('echo', routeSpec('echo', endpoint, routeGuard(pin))));
  models = stack.use(createGatewayModels({ url: new URL(service.url), tokenFile: { first: () => clientKey } }));
  await until('the route is loaded', () => models.complete('echo', prompt).then(Boolean, () => false));
});
afterAll(() => stack.disposeAsync());

test('texts are embedded through the gateway with the dimensions of the profile, even more texts than fit into one batch', async () => {
  const texts = Array.from({ length: 40 }, (_, index) => `документ ${index}`);
  const vectors = await models.embed(profile, 'passage', texts);
  expect(vectors).toHaveLength(40);
  for (const vector of vectors) {
    expect(vector).toHaveLength(384);
    expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
  }
  const [again] = await models.embed(profile, 'query', ['документ 39']);
  expect(again).toEqual(vectors[39]);
  await expect(models.embed({ ...profile, sendDimension: false }, 'query', ['x'])).rejects.toMatchObject({
    code: 'invalid',
  });
});

test('documents are reranked through the gateway, and a prompt is answered', async () => {
  const ranked = await models.rerank(ranker, 'red apple', ['figures', 'a red apple', 'apple']);
  expect(ranked.map(({ index }) => index)).toEqual([1, 2, 0]);
  expect(await models.complete('echo', prompt)).toBe('Москва');
});

test('a text that the guardrail of the gateway denies is denied for every kind of model', async () => {
  const denied = { code: 'denied' };
  await expect(models.embed(profile, 'query', [words.deniedInput])).rejects.toMatchObject(denied);
  await expect(models.rerank(ranker, 'q', ['a', words.deniedInput])).rejects.toMatchObject(denied);
  await expect(models.complete('echo', { ...prompt, user: words.deniedInput })).rejects.toMatchObject(denied);
});

test('a text that is larger than a check of the gateway accepts is refused, and a model that is not served is unavailable', async () => {
  await expect(models.embed(profile, 'query', ['x'.repeat(40_000)])).rejects.toMatchObject({ code: 'refused' });
  await expect(models.complete('nobody', prompt)).rejects.toMatchObject({ code: 'unavailable' });
  await using stranger = createGatewayModels({ url: new URL(world.gateway.service.url) });
  await expect(stranger.complete('echo', prompt)).rejects.toMatchObject({ code: 'unavailable' });
});

test('an unreachable gateway makes the models unavailable', async () => {
  await using away = createGatewayModels({ url: new URL('http://127.0.0.1:9'), pause: async () => undefined });
  await expect(away.embed(profile, 'query', ['x'])).rejects.toMatchObject({ code: 'unavailable' });
});
