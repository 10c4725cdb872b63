import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { memoryLimits } from '#contracts/memory';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { type OpenedMemory, openMemory } from '../testing/open-memory.ts';

const limits = memoryLimits;
const ann = { user: 'ann' };
const said = (more: object = {}) => ({
  messages: [{ role: 'user', content: 'kept' }],
  agent_id: 'tutor',
  infer: false,
  ...more,
});
const saying = (...contents: readonly string[]) =>
  said({ messages: contents.map((content) => ({ role: 'user', content })) });
const of = (length: number) => 'x'.repeat(length);
/** An object that has this many bytes as JSON. */
const bytes = (count: number) => ({ a: of(count - JSON.stringify({ a: '' }).length) });
const search = (more: object) => ({ query: 'kept', ...more });
const nested = (depth: number): object => (depth === 1 ? { role: 'user' } : { NOT: nested(depth - 1) });

type Request = readonly [method: string, path: string, body?: object, headers?: Record<string, string>];
type Bound = readonly [what: string, accepted: Request, refused: Request];

const add = (body: object, headers: Record<string, string> = {}): Request => ['POST', '/v1/memories', body, headers];
const find = (more: object): Request => ['POST', '/v1/memories/search', search(more)];
const list = (query: string): Request => ['GET', `/v1/memories?${query}`];
/** Sends the same request twice: with the maximum value and with a value above it. */
const upTo = (what: string, most: number, request: (count: number) => Request): Bound => [
  what,
  request(most),
  request(most + 1),
];
const exported = (size: number): Request => ['GET', `/v1/export?page_size=${size}`];
const downTo = (what: string, least: number, request: (count: number) => Request): Bound => [
  what,
  request(least),
  request(least - 1),
];

const bounds: readonly Bound[] = [
  upTo('messages of an add', limits.messagesOfAdd, (count) => add(saying(...new Array(count).fill('kept')))),
  upTo('characters of a message', limits.messageLength, (count) => add({ ...saying(of(count)), infer: true })),
  upTo('characters of agent_id', limits.scopeId, (count) => add(said({ agent_id: of(count) }))),
  upTo('characters of run_id', limits.scopeId, (count) => add(said({ run_id: of(count) }))),
  upTo('characters of the agent_id of a list', limits.scopeId, (count) => list(`agent_id=${of(count)}`)),
  upTo('characters of the run_id of a list', limits.scopeId, (count) => list(`run_id=${of(count)}`)),
  upTo('characters of a category', limits.category, (count) => add(said({ categories: [of(count)] }))),
  upTo('categories', limits.categories, (count) => add(said({ categories: new Array(count).fill('c') }))),
  upTo('bytes of metadata', limits.metadataBytes, (count) => add(said({ metadata: bytes(count) }))),
  upTo('characters of an Idempotency-Key', limits.key, (count) => add(said(), { 'idempotency-key': of(count) })),
  upTo('characters of a query', limits.queryText, (count) => find({ query: of(count) })),
  upTo('the greatest top_k', limits.topK.max, (count) => find({ top_k: count })),
  downTo('the least top_k', limits.topK.min, (count) => find({ top_k: count })),
  upTo('the greatest token_budget', limits.tokenBudget.max, (count) => find({ token_budget: count })),
  downTo('the least token_budget', limits.tokenBudget.min, (count) => find({ token_budget: count })),
  upTo('the greatest page_size', limits.pageSize.max, (count) => list(`agent_id=a&page_size=${count}`)),
  downTo('the least page_size', limits.pageSize.min, (count) => list(`agent_id=a&page_size=${count}`)),
  upTo('the greatest page_size of an export', limits.exportPage.max, exported),
  downTo('the least page_size of an export', limits.exportPage.min, exported),
  upTo('the depth of filters', 8, (count) => find({ filters: nested(count) })),
  upTo('values of a filter', 1_000, (count) => find({ filters: { agent_id: new Array(count).fill('a') } })),
  upTo('characters of a value of a filter', 1_024, (count) => find({ filters: { agent_id: of(count) } })),
  upTo('characters of a path of metadata in a filter', 256, (count) =>
    find({ filters: { [`metadata.${of(count - 'metadata.'.length)}`]: 1 } }),
  ),
];

describe.skipIf(missingPostgres !== undefined)(onPostgres('the limits of the memory service'), () => {
  let memory: OpenedMemory;
  beforeAll(async () => {
    memory = await openMemory();
  });
  afterAll(() => memory[Symbol.asyncDispose]());

  test.each(bounds)('a request at the limit of %s is accepted, and one beyond it is refused', async (_, good, bad) => {
    const [method, path] = good;
    expect((await memory.call(ann, ...good)).status).toBe(method === 'POST' && path === '/v1/memories' ? 202 : 200);
    const refused = await memory.call(ann, ...bad);
    expect(refused).toMatchObject({ status: 400, json: { code: 'invalid_request' } });
  });

  test.each(['', 'a b', 'a\tb', 'ключ'])('the Idempotency-Key %j is refused', async (key) => {
    const headers = { 'idempotency-key': Buffer.from(key).toString('latin1') };
    expect((await memory.call(ann, ...add(said(), headers))).status).toBe(400);
  });

  test('a body may have as many bytes as the limit, and a longer body is refused with 413', async () => {
    const send = async (size: number) => {
      const json = JSON.stringify(said());
      const answer = await fetch(`${memory.url}/v1/memories`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-tenant-id': 'acme', 'x-user-id': 'ann' },
        body: json + ' '.repeat(size - json.length),
      });
      return [answer.status, ((await answer.json()) as { readonly code?: string }).code];
    };
    expect(await send(limits.bodyBytes)).toEqual([202, undefined]);
    expect(await send(limits.bodyBytes + 1)).toEqual([413, expect.any(String)]);
  });

  test('a memory may be as long as the limit, stored without inference or changed by a person', async () => {
    const user = { user: 'long' };
    const event = await memory.add(user, saying(of(limits.memoryLength)));
    expect(event).toMatchObject({ status: 'SUCCEEDED' });
    const [id] = event['memory_ids'] as readonly string[];
    const path = `/v1/memories/${id}`;
    const changed = await memory.call(user, 'PUT', path, { text: `y${of(limits.memoryLength - 1)}` });
    expect(changed.status).toBe(200);
    expect((await memory.call(user, 'PUT', path, { text: of(limits.memoryLength + 1) })).status).toBe(400);
    expect((await memory.call(user, 'PUT', path, { text: ' ' })).status).toBe(400);
    expect((await memory.call(user, 'GET', path)).json['memory']).toBe(changed.json['memory']);
    for (const [member, good, bad] of [
      ['metadata', bytes(limits.metadataBytes), bytes(limits.metadataBytes + 1)],
      ['categories', new Array(limits.categories).fill('c'), new Array(limits.categories + 1).fill('c')],
      ['categories', [of(limits.category)], [of(limits.category + 1)]],
    ] as const) {
      expect((await memory.call(user, 'PUT', path, { text: 'z', [member]: good })).status).toBe(200);
      expect((await memory.call(user, 'PUT', path, { text: 'z', [member]: bad })).status).toBe(400);
    }
  });

  test('a user_id may be as long as the limit, and a longer one is no name of another user', async () => {
    const requests = (id: string): readonly Request[] => [
      add(said({ user_id: id })),
      list(`user_id=${id}`),
      ['DELETE', `/v1/memories?user_id=${id}`],
      ['POST', '/v1/erasures', { user_id: id }],
    ];
    for (const request of requests(of(limits.scopeId))) {
      expect(await memory.call(ann, ...request)).toMatchObject({ status: 403, json: { message: 'Wrong user ID.' } });
    }
    for (const request of requests(of(limits.scopeId + 1))) {
      expect(await memory.call(ann, ...request)).toMatchObject({ status: 400, json: { code: 'invalid_request' } });
    }
    const filters = { user_id: of(limits.scopeId) };
    expect((await memory.call(ann, ...find({ filters }))).status).toBe(403);
  });

  test('a user may have as many open events as the limit; the next add is refused unless it repeats a key', async () => {
    const user = { user: 'busy' };
    await memory.add(user, said());
    const { sql } = memory.database.database;
    // No worker claims these events, because they are due later.
    await sql`
      insert into memory.events (event_id, person, agent_id, infer, messages, digest, trace_id, due_at)
      select gen_random_uuid(), person, 'tutor', false, '[]', '', '', clock_timestamp() + interval '1 hour'
      from memory.people, generate_series(1, ${limits.openEvents - 1}::int) where user_key like '%"busy"]'`;
    const last = await memory.call(user, ...add(said(), { 'idempotency-key': 'last' }));
    expect(last.status).toBe(202);
    expect(await memory.call(user, ...add(said()))).toMatchObject({ status: 429, json: { code: 'rate_limited' } });
    const again = await memory.call(user, ...add(said(), { 'idempotency-key': 'last' }));
    expect(again).toMatchObject({ status: 202, json: { event_id: last.json['event_id'] } });
    expect((await memory.call({ user: 'free' }, ...add(said()))).status).toBe(202);
    const cancelled = await memory.call(user, 'DELETE', '/v1/memories?agent_id=tutor');
    expect(cancelled.json['cancelled_events']).toBe(limits.openEvents);
    expect((await memory.call(user, ...add(said()))).status).toBe(202);
  });
});
