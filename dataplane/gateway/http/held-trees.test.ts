import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { collectGarbage } from '#kit/testing/collect-garbage';
import { until } from '#kit/testing/until';
import { bytesPerValue } from '../chat/text-bounds.ts';
import { routeGuard, routeSpec, storedRoute } from '../testing/route-builder.ts';
import { served } from '../testing/start-gateway.ts';
import { says, startWorld, type World } from '../testing/start-world.ts';

const mebibyte = 1_048_576;
const limit = 8 * mebibyte;
let world: World;

beforeAll(async () => {
  world = await startWorld({ maxHeldBytes: limit, heldWaitMs: 1_000 });
  const guard = routeGuard({ ...world.policy.pin, addresses: [world.checks.url] });
  const spec = routeSpec('judging', `${world.upstream.url}/v1`, guard);
  world.gateway.routes.put(storedRoute('judging', { ...spec, judge: ['toolCalls'] }));
  await served(world.gateway, ['judging', 'model', 'open']);
});
afterAll(() => world[Symbol.asyncDispose]());

/** A list of `count` empty lists. */
const lists = (count: number): string => `[${new Array(count).fill('[]').join(',')}]`;

/**
 * A request with `count` values in a parameter, and the memory that it needs together with its judged texts: one
 * message or one input.
 */
const requests: Readonly<Record<string, (model: string, count: number) => { body: string; values: number }>> = {
  '/v1/chat/completions': (model, count) => ({
    body: `{"model":"${model}","messages":[{"role":"user","content":"hi"}],"stop":${lists(count)}}`,
    values: count + 7,
  }),
  '/v1/responses': (model, count) => ({
    body: `{"model":"${model}","input":"hi","tools":${lists(count)}}`,
    values: count + 4,
  }),
  '/v1/embeddings': (model, count) => ({
    body: `{"model":"${model}","input":["hi"],"user":null,"input_type":${lists(count)}}`,
    values: count + 6,
  }),
};

describe('the JSON trees of all requests and answers together', () => {
  test.each([
    ['/v1/chat/completions', 'open', 0],
    ['/v1/chat/completions', 'model', 1],
    ['/v1/responses', 'open', 0],
    ['/v1/responses', 'model', 1],
    ['/v1/embeddings', 'open', 0],
  ])(
    'POST %s to %s may have as many values as the budget, and one more is refused as overloaded',
    async (path, model, texts) => {
      world.upstream.play({ kind: 'status', status: 429, body: '{}' });
      const make = requests[path];
      if (make === undefined) throw new Error('no request of this path');
      const empty = make(model, 1);
      // Each further value adds three bytes to the body, "[],".
      const free = limit - Buffer.byteLength(empty.body) - (empty.values + texts) * bytesPerValue;
      const most = 1 + Math.floor(free / (bytesPerValue + 3));
      const post = async (count: number): Promise<number> => {
        const answer = await world.post(path, make(model, count).body);
        await answer.arrayBuffer();
        return answer.status;
      };
      await until('the bytes of earlier requests are free', async () => (await post(most)) === 429, {
        deadlineMs: 20_000,
      });
      expect(await post(most + 1)).toBe(503);
      await until('the bytes of the refused request are free', async () => (await post(most)) === 429, {
        deadlineMs: 20_000,
      });
    },
  );

  test.each([
    ['/v1/chat/completions', says('hi'), '"choices":[{"index":0,"message":{"role":"assistant","content":"fine"}}]', 9],
    ['/v1/responses', { input: 'hi' }, '"output":[{"type":"message","content":"fine"}]', 8],
  ])(
    'an answer of POST %s may have as many values as the budget, and one more is refused',
    async (path, more, text, values) => {
      const request = JSON.stringify({ model: 'model', ...more });
      const answer = (count: number): string => `{"id":"a",${text},"usage":${lists(count)}}`;
      const free = limit - Buffer.byteLength(request) - Buffer.byteLength(answer(1)) - (values + 1) * bytesPerValue;
      const most = 1 + Math.floor(free / (bytesPerValue + 3));
      const post = async (count: number): Promise<number> => {
        world.upstream.play({ kind: 'raw', body: answer(count), contentType: 'application/json' });
        const reply = await world.post(path, request);
        await reply.arrayBuffer();
        return reply.status;
      };
      await until('the bytes of earlier requests are free', async () => (await post(most)) === 200, {
        deadlineMs: 20_000,
      });
      expect(await post(most + 1)).toBe(503);
    },
  );

  test('the texts of JSON inside a string count towards the memory of a request', async () => {
    world.upstream.play({ kind: 'status', status: 429, body: '{}' });
    const post = async (count: number): Promise<number> => {
      const call = {
        id: 'c',
        type: 'function',
        function: { name: 'f', arguments: lists(count).replaceAll('[]', '"a"') },
      };
      const messages = [{ role: 'assistant', content: 'hi', tool_calls: [call] }];
      const answer = await world.post('/v1/chat/completions', { model: 'judging', messages });
      await answer.arrayBuffer();
      return answer.status;
    };
    expect(await post(1_000)).toBe(429);
    expect(await post(60_000)).toBe(503);
  });

  test('the tree of a request is not kept while its provider is silent', async () => {
    await using wide = await startWorld();
    wide.upstream.play({ kind: 'silence' });
    const make = requests['/v1/chat/completions'];
    const body = make?.('model', 25_000).body ?? '';
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    const gone = new AbortController();
    const answers: Promise<unknown>[] = [];
    for (let index = 0; index < 16; index += 1) {
      answers.push(wide.post('/v1/chat/completions', body, {}, gone.signal).catch(() => undefined));
      await until('the provider is asked', async () => wide.upstream.seen.length > index);
    }
    collectGarbage();
    const perRequest = (process.memoryUsage().heapUsed - before) / 16;
    gone.abort();
    await Promise.all(answers);
    // The tree takes about 2.5 MB; the bodies are no part of the heap, but the script of the provider keeps their text.
    expect(perRequest).toBeLessThan(600_000);
  });
});
