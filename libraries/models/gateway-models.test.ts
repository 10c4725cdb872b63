import { afterEach, beforeEach, expect, test } from 'vitest';
import { answers, reset, type ScriptedHttp, silence, startScriptedHttp } from '#kit/testing/scripted-http';
import { createGatewayModels } from './gateway-models.ts';
import { ModelsError } from './models-error.ts';
import type { EmbeddingProfile, Models } from './ports.ts';

const profile: EmbeddingProfile = {
  id: 'small',
  model: 'embedder',
  dimension: 2,
  sendDimension: false,
  batch: 2,
  maxTokens: 512,
  queryPrefix: 'query: ',
  passagePrefix: 'passage: ',
};
const prompt = { system: 'Answer.', user: 'hello' };
const chat = { choices: [{ message: { role: 'assistant', content: 'hi' } }] };
const ranker = { id: 'r', model: 'ranker', maxDocuments: 2 };

let gateway: ScriptedHttp;
let models: Models;
let pauses: number[];

beforeEach(async () => {
  pauses = [];
  gateway = await startScriptedHttp(answers(chat));
  models = createGatewayModels({
    url: new URL(gateway.url),
    tokenFile: { first: () => 'client-key' },
    pause: async (ms) => void pauses.push(ms),
  });
});
afterEach(async () => {
  await models[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
});

const vectors = (...embedding: readonly unknown[]) => ({
  data: embedding.map((each, index) => ({ index, embedding: each })),
});
const error = (code: string) => ({ error: { message: 'm', type: 't', param: null, code } });
const bodies = (): unknown[] => gateway.seen.map(({ text }) => JSON.parse(text));
const codeOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => 'answered',
    (failure: unknown) => (failure instanceof ModelsError ? failure.code : failure),
  );

test('texts are embedded in batches of the profile with the prefix of their use, and vectors are returned in order', async () => {
  gateway.play((response, { text }) => {
    const { input } = JSON.parse(text) as { input: string[] };
    const data = input.map((each, index) => ({ index, embedding: [each.length, 0] })).reverse();
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data }));
  });
  const found = await models.embed(profile, 'passage', ['a', 'bb', 'c']);
  expect(found).toEqual([new Float32Array([1, 0]), new Float32Array([1, 0]), new Float32Array([1, 0])]);
  await models.embed({ ...profile, sendDimension: true }, 'query', ['d']);
  expect(bodies()).toEqual([
    { model: 'embedder', input: ['passage: a', 'passage: bb'], encoding_format: 'float' },
    { model: 'embedder', input: ['passage: c'], encoding_format: 'float' },
    { model: 'embedder', input: ['query: d'], encoding_format: 'float', dimensions: 2 },
  ]);
  expect(await models.embed(profile, 'query', [])).toEqual([]);
  expect(gateway.seen).toHaveLength(3);
});

test('vectors are scaled to unit length, and base64 vectors are read, too', async () => {
  gateway.play(answers(vectors([3, 4], Buffer.from(new Float32Array([0, -2]).buffer).toString('base64'))));
  expect(await models.embed(profile, 'query', ['a', 'b'])).toEqual([
    new Float32Array([0.6, 0.8]),
    new Float32Array([0, -1]),
  ]);
});

test.each([
  ['another dimension', vectors([1, 0, 0])],
  ['no direction', vectors([0, 0])],
  ['numbers beyond 32 bits', vectors([1e300, 1])],
  ['words instead of numbers', vectors(['a', 'b'])],
  ['a cut number in base64', vectors(Buffer.from([1, 2, 3]).toString('base64'))],
  ['too few vectors', { data: [] }],
  ['too many vectors', vectors([1, 0], [0, 1])],
  ['a vector of another text', { data: [{ index: 1, embedding: [1, 0] }] }],
  ['another shape', chat],
  ['text that is not JSON', 'hello'],
])('an embeddings answer with %s is invalid, and the call is not retried', async (_, answer) => {
  gateway.play(answers(answer));
  expect(await codeOf(models.embed(profile, 'query', ['text']))).toBe('invalid');
  expect(gateway.seen).toHaveLength(1);
});

test('documents are reranked in calls of the profile, best first, and equal scores keep their order', async () => {
  gateway.play((response, { text }) => {
    const { documents } = JSON.parse(text) as { documents: string[] };
    const results = documents.map((each, index) => ({ index, relevance_score: each.length })).reverse();
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ results }));
  });
  expect(await models.rerank(ranker, 'q', ['aa', 'b', 'cc'])).toEqual([
    { index: 0, score: 2 },
    { index: 2, score: 2 },
    { index: 1, score: 1 },
  ]);
  expect(gateway.seen.map(({ path }) => path)).toEqual(['/v1/rerank', '/v1/rerank']);
  expect(bodies()[1]).toEqual({ model: 'ranker', query: 'q', documents: ['cc'], top_n: 1, return_documents: false });
});

test('all calls of one rerank have one timeout', async () => {
  const results = [0, 1].map((index) => ({ index, relevance_score: index }));
  let now = 0;
  const rerankIn = async (msOfCall: number) => {
    now = 0;
    gateway.forget();
    gateway.play((response, request) => {
      now += msOfCall;
      answers({ results })(response, request);
    });
    await using timed = createGatewayModels({ url: new URL(gateway.url), now: () => now, timeoutMs: 30_000 });
    return [await codeOf(timed.rerank(ranker, 'q', ['a', 'b', 'c', 'd', 'e', 'f'])), gateway.seen.length];
  };
  // The third call has 2 s of real time.
  expect(await rerankIn(14_000)).toEqual(['answered', 3]);
  expect(await rerankIn(15_000)).toEqual(['unavailable', 2]);
  expect(await rerankIn(30_000)).toEqual(['unavailable', 1]);
});

test.each([
  ['a missing document', { results: [{ index: 0, relevance_score: 1 }] }],
  ['a document twice', { results: [0, 0].map((index) => ({ index, relevance_score: 1 })) }],
  ['an unknown document', { results: [0, 2].map((index) => ({ index, relevance_score: 1 })) }],
  ['no score', { results: [{ index: 0 }, { index: 1 }] }],
])('a rerank answer with %s is invalid', async (_, answer) => {
  gateway.play(answers(answer));
  expect(await codeOf(models.rerank(ranker, 'q', ['a', 'b']))).toBe('invalid');
});

test('a completion is the text of the first choice, and the gateway gets key and traceparent', async () => {
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  expect(await models.complete('talker', prompt, { traceparent })).toBe('hi');
  expect(bodies()).toEqual([
    {
      model: 'talker',
      messages: [
        { role: 'system', content: 'Answer.' },
        { role: 'user', content: 'hello' },
      ],
    },
  ]);
  expect(gateway.seen[0]?.path).toBe('/v1/chat/completions');
  expect(gateway.seen[0]?.headers).toMatchObject({ authorization: 'Bearer client-key', traceparent });
});

const answer = { name: 'names', schema: { type: 'object', properties: {}, required: [], additionalProperties: false } };
const strict = { type: 'json_schema', json_schema: { ...answer, strict: true } };

test('a call with a response format requests strict mode, and is repeated once without it if the model refuses that', async () => {
  expect(await models.complete('talker', { ...prompt, answer })).toBe('hi');
  expect(bodies()).toEqual([expect.objectContaining({ response_format: strict })]);
  gateway.forget();
  gateway.play((response, request) => {
    const isStrict = 'response_format' in (JSON.parse(request.text) as object);
    return (isStrict ? answers(error('upstream_refused'), 400) : answers(chat))(response, request);
  });
  expect(await models.complete('talker', { ...prompt, answer })).toBe('hi');
  const [first, second] = bodies();
  expect(first).toEqual({ ...(second as object), response_format: strict });
  expect(gateway.seen).toHaveLength(2);
});

test.each([
  ['refused', 400, error('upstream_refused'), 2],
  ['denied', 403, error('policy_denied'), 1],
  ['unavailable', 401, error('unauthenticated'), 1],
] as const)(
  'a call with a response format that is %s ends after a bounded number of attempts',
  async (code, status, body, seen) => {
    gateway.play(answers(body, status));
    expect(await codeOf(models.complete('talker', { ...prompt, answer }))).toBe(code);
    expect(gateway.seen).toHaveLength(seen);
  },
);

test.each([
  [403, error('policy_denied'), {}, 'denied'],
  [400, error('upstream_refused'), {}, 'refused'],
  [413, error('body_too_large'), {}, 'refused'],
  [422, 'no JSON', {}, 'refused'],
  [503, error('body_too_large'), { 'x-should-retry': 'false' }, 'refused'],
  [503, error('message_limit'), { 'x-should-retry': 'false' }, 'refused'],
  [503, error('invalid_answer'), { 'x-should-retry': 'false' }, 'unavailable'],
  [401, error('unauthenticated'), {}, 'unavailable'],
  [403, error('model_disabled'), {}, 'unavailable'],
  [404, error('model_not_found'), {}, 'unavailable'],
  [307, '', { location: '/elsewhere' }, 'unavailable'],
] as const)('a call with the answer %i and %o ends after one attempt', async (status, body, headers, code) => {
  gateway.play(answers(body, status, headers));
  expect(await codeOf(models.complete('talker', prompt))).toBe(code);
  expect(gateway.seen).toHaveLength(1);
});

test.each([408, 429, 500, 502, 503, 504])('a call that gets status %i is retried with backoff', async (status) => {
  gateway.play((response, request) => {
    const script = gateway.seen.length < 4 ? answers(error('overloaded'), status) : answers(chat);
    return script(response, request);
  });
  expect(await models.complete('talker', prompt)).toBe('hi');
  expect(pauses).toHaveLength(3);
  for (const [index, first] of [200, 400, 800].entries()) {
    expect(pauses[index]).toBeGreaterThanOrEqual(first);
    expect(pauses[index]).toBeLessThanOrEqual(2 * first);
  }
});

test('a call whose connection is lost is retried, with at most five attempts in all', async () => {
  gateway.play(reset);
  expect(await codeOf(models.complete('talker', prompt))).toBe('unavailable');
  expect(gateway.seen).toHaveLength(5);
  expect(pauses).toHaveLength(4);
});

test('a call is not retried before Retry-After, and ends immediately if Retry-After is beyond its timeout', async () => {
  gateway.play((response, request) => {
    const script = gateway.seen.length < 2 ? answers(error('x'), 429, { 'retry-after': '7' }) : answers(chat);
    return script(response, request);
  });
  expect(await models.complete('talker', prompt)).toBe('hi');
  expect(pauses).toEqual([7_000]);
  gateway.play(answers(error('x'), 503, { 'retry-after': '31' }));
  const late = models.complete('talker', prompt);
  await expect(late).rejects.toMatchObject({ code: 'unavailable', retryAfterMs: 31_000 });
  expect(pauses).toEqual([7_000]);
});

test('a call without an answer ends at its timeout, and an aborted call ends with the reason of the abort', async () => {
  gateway.play(silence);
  expect(await codeOf(models.complete('talker', prompt, { timeoutMs: 50 }))).toBe('unavailable');
  const given = new AbortController();
  gateway.play(() => given.abort(new Error('the client has gone')));
  await expect(models.complete('talker', prompt, { signal: given.signal })).rejects.toThrow('the client has gone');
  expect(gateway.seen).toHaveLength(2);
});

test('an error of a model call names neither text nor answer', async () => {
  gateway.play(answers('{"secret answer":1}'));
  const failure = await models.complete('talker', { system: 's', user: 'secret text' }).catch(String);
  expect(failure).toContain('expected shape');
  expect(failure).not.toContain('secret');
});

test('a client key that cannot be read makes the models unavailable', async () => {
  await using keyless = createGatewayModels({
    url: new URL(gateway.url),
    tokenFile: {
      first: () => {
        throw new RangeError('gone');
      },
    },
    pause: async () => undefined,
  });
  expect(await codeOf(keyless.complete('talker', prompt))).toBe('unavailable');
  expect(gateway.seen).toEqual([]);
});
