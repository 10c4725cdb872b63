import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { blockedError, startWorld, type World, words } from '../testing/start-world.ts';

let world: World;
const ranking = '{"results":[{"index":1,"relevance_score":0.9},{"index":0,"relevance_score":0.1}],"usage":{}}';

beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => {
  world.upstream.forget();
  play(ranking);
});

const play = (body: string): void => world.upstream.play({ kind: 'raw', body, contentType: 'application/json' });
const rerank = (more: object, model = 'model'): Promise<Response> =>
  world.post('/v1/rerank', { model, query: 'which one', documents: ['one', 'two'], ...more });
const sent = (): unknown => JSON.parse(world.upstream.seen.at(-1)?.text ?? 'null');

test('a rerank request that passes is forwarded to the path of the provider, and its answer is returned', async () => {
  const answer = await rerank({ top_n: 2, return_documents: false });
  expect(await answer.text()).toBe(ranking);
  expect(world.upstream.seen.at(-1)?.path).toBe('/v1/rerank');
  expect(sent()).toEqual({
    model: 'upstream-model',
    query: 'which one',
    documents: ['one', 'two'],
    top_n: 2,
    return_documents: false,
  });
});

test('the query and every document of a rerank request are judged, and one deny refuses the request', async () => {
  const requests = [{ query: words.deniedInput }, { documents: ['one', `a ${words.deniedInput}`] }];
  for (const request of requests) {
    const answer = await rerank(request);
    expect(answer.status).toBe(403);
    expect(await answer.json()).toEqual(blockedError);
  }
  expect(world.upstream.seen).toEqual([]);
});

test('texts of a rerank request that a policy masks are ranked masked, and the others unchanged', async () => {
  expect((await rerank({ documents: ['one', `pay ${words.maskedInput}`] })).status).toBe(200);
  expect(sent()).toMatchObject({ query: 'which one', documents: ['one', 'pay ***'] });
  expect((await rerank({ query: words.maskedInput })).status).toBe(200);
  expect(sent()).toMatchObject({ query: '***', documents: ['one', 'two'] });
});

test('documents that exceed one check are checked in several checks, and a deny in the last one refuses the request', async () => {
  const documents = Array.from({ length: 100 }, (_, index) => `text ${index}`);
  const before = world.checks.seen.length;
  expect((await rerank({ documents })).status).toBe(200);
  expect(world.checks.seen.length - before).toBe(4);
  expect((await rerank({ documents: [...documents, words.deniedInput] })).status).toBe(403);
});

test.each([
  ['no query', { query: undefined }, 'query'],
  ['a query that is not a string', { query: ['a'] }, 'query'],
  ['no documents', { documents: undefined }, 'documents'],
  ['an empty list of documents', { documents: [] }, 'documents'],
  ['documents that are objects', { documents: [{ text: 'one' }] }, 'documents'],
  ['more than 1,000 documents', { documents: Array(1_001).fill('a') }, 'documents'],
  ['documents in the answer', { return_documents: true }, 'return_documents'],
  ['no boolean for documents in the answer', { return_documents: 'no' }, 'return_documents'],
  ['an unknown member', { instruction: 'a' }, 'instruction'],
  ['a member in another case', { Query: 'a' }, 'Query'],
])('a guarded rerank request with %s is refused with its place', async (_, more, param) => {
  const answer = await rerank(more);
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ error: { param } });
  expect(world.upstream.seen).toEqual([]);
});

test('a rerank request with 1,000 documents is accepted', async () => {
  expect((await rerank({ documents: Array(1_000).fill('a') })).status).toBe(200);
});

test('an unguarded model ranks every request unchanged, documents of the answer included', async () => {
  const body = '{"results":[{"index":0,"relevance_score":1,"document":{"text":"one"}}]}';
  play(body);
  const answer = await rerank({ documents: [{ text: 'one' }], return_documents: true }, 'open');
  expect(await answer.text()).toBe(body);
  expect(sent()).toMatchObject({ documents: [{ text: 'one' }], return_documents: true });
});

test.each([
  ['an error', '{"error":{"message":"the provider says"}}'],
  ['an error beside results', '{"results":[],"error":{"message":"the provider says"}}'],
  ['a text of a document', '{"results":[{"index":0,"relevance_score":1,"document":{"text":"the provider says"}}]}'],
  ['a chat answer', '{"choices":[{"index":0,"message":{"role":"assistant","content":"the provider says"}}]}'],
  ['no score', '{"results":[{"index":0,"text":"the provider says"}]}'],
  ['text that is not JSON', 'the provider says'],
])('a rerank answer with %s of a guarded provider is not forwarded', async (_, body) => {
  play(body);
  const answer = await rerank({});
  const text = await answer.text();
  expect(answer.status).toBe(502);
  expect(text).not.toContain('the provider says');
  expect(JSON.parse(text)).toMatchObject({ error: { type: 'upstream_error', code: 'upstream_invalid' } });
});
