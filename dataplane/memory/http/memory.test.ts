import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { memoryLimits } from '#contracts/memory';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { verifies } from '../../../e2e/support/verifies.ts';
import { type OpenedMemory, openMemory } from '../testing/open-memory.ts';

const ann = { user: 'ann' };
const bob = { user: 'bob' };
const unknown = '01890000-0000-7000-8000-000000000000';
let users = 0;
const someone = () => {
  users += 1;
  return { user: `user-${users}` };
};

describe.skipIf(missingPostgres !== undefined)(onPostgres('the memory service'), () => {
  let memory: OpenedMemory;
  beforeAll(async () => {
    memory = await openMemory();
  });
  afterAll(() => memory[Symbol.asyncDispose]());

  const said = (content: string, more: object = {}) => ({
    messages: [{ role: 'user', content }],
    agent_id: 'tutor',
    ...more,
  });
  const ids = (event: Readonly<Record<string, unknown>>) => event['memory_ids'] as readonly string[];
  const remembered = async (caller: { user: string }, text: string, more: object = {}) =>
    ids(await memory.add(caller, said(text, { infer: false, ...more })))[0] ?? '';

  verifies(
    ['memory:add:accepted', 'memory:add:response-fields', 'memory:add:asynchronous', 'memory:event:becomes-succeeded'],
    'an add is accepted as PENDING, and its memories exist when the event is SUCCEEDED',
    async () => {
      const { status, json } = await memory.call(ann, 'POST', '/v1/memories', said('I live in Lisbon.'));
      expect(status).toBe(202);
      expect(json).toEqual({ event_id: expect.any(String), status: 'PENDING' });
      const event = await memory.say(ann, 'I work at Siemens.');
      expect(event['status']).toBe('SUCCEEDED');
      expect(await memory.all(ann)).toEqual(['I work at Siemens', 'I live in Lisbon']);
    },
  );

  test('a sentence that ends a value replaces the memory of that value, whatever its topic, and no other memory', async () => {
    const user = someone();
    await memory.say(user, 'I am learning Thai. I drink cocoa every evening.');
    await memory.say(user, 'I gave up on Thai.');
    expect((await memory.all(user)).toSorted()).toEqual(['I drink cocoa every evening', 'I gave up on Thai']);
    await memory.say(user, 'Instead of cocoa I drink chai now.');
    expect((await memory.all(user)).toSorted()).toEqual(['I drink chai now', 'I gave up on Thai']);
  });

  verifies(
    ['memory:event:memory-ids', 'memory:add:fact-extracted', 'memory:events:status', 'memory:event:status-values'],
    'an event names its memories and decisions, and a search in the scope finds the fact',
    async () => {
      const user = someone();
      const event = await memory.say(user, 'Hello! How are you? I am allergic to peanuts.');
      expect(event).toMatchObject({ status: 'SUCCEEDED', decisions: [{ decision: 'ADD', message: 0 }], error: null });
      const record = await memory.call(user, 'GET', `/v1/memories/${ids(event)[0]}`);
      expect(record.json['memory']).toBe('I am allergic to peanuts');
      expect(record.json['source']).toMatchObject({ message: 0, start: 20, end: 44 });
      expect(await memory.find(user, 'peanuts', { filters: { agent_id: 'tutor' } })).toEqual([
        'I am allergic to peanuts',
      ]);
    },
  );

  verifies(['memory:event:failed-value'], 'an event that cannot succeed is FAILED with a reason', async () => {
    const event = await memory.add(someone(), said('x'.repeat(memoryLimits.memoryLength + 1), { infer: false }));
    expect(event).toMatchObject({ status: 'FAILED', memory_ids: [], error: expect.stringContaining('longer than') });
  });

  verifies(
    ['memory:events:unknown'],
    'an unknown event and an event of another user are both answered with 404',
    async () => {
      const event = await memory.say(someone(), 'I live in Oslo.');
      expect((await memory.call(ann, 'GET', `/v1/events/${unknown}`)).status).toBe(404);
      expect((await memory.call(bob, 'GET', `/v1/events/${event['event_id']}`)).status).toBe(404);
    },
  );

  verifies(
    ['memory:add:agent-id-scope', 'memory:add:run-id-scope', 'memory:add:missing-scope', 'memory:add:infer'],
    'agent_id or run_id alone is a scope, and a request with neither is refused',
    async () => {
      const messages = [{ role: 'user', content: 'I live in Rome.' }];
      const add = async (scope: object) =>
        (await memory.call(someone(), 'POST', '/v1/memories', { messages, ...scope })).status;
      expect(await add({ agent_id: 'a' })).toBe(202);
      expect(await add({ run_id: 'r' })).toBe(202);
      expect(await add({ agent_id: 'a', infer: true })).toBe(202);
      expect(await add({ agent_id: 'a', infer: false })).toBe(202);
      const refused = await memory.call(ann, 'POST', '/v1/memories', { messages });
      expect(refused).toMatchObject({ status: 400, json: { code: 'missing_scope' } });
      expect(await add({ user_id: 'someone', agent_id: 'a' })).toBe(403);
    },
  );

  verifies(
    [
      'memory:search:ranked',
      'memory:search-result:fields',
      'memory:search-result:score-details',
      'memory:search:top-k',
    ],
    'a search returns the best match first, with its scores, at most top_k',
    async () => {
      const user = someone();
      await memory.say(user, 'I live in Paris. My dog is called Rex. I love strong black coffee.');
      const { json } = await memory.call(user, 'POST', '/v1/memories/search', {
        query: 'coffee',
        filters: { agent_id: 'tutor' },
      });
      const results = json['results'] as readonly Readonly<Record<string, unknown>>[];
      expect(results).toHaveLength(3);
      expect(results[0]).toMatchObject({
        id: expect.any(String),
        memory: 'I love strong black coffee',
        score: expect.any(Number),
        score_details: { semantic: expect.any(Number), bm25: expect.any(Number) },
        created_at: expect.any(String),
      });
      expect(await memory.find(user, 'coffee', { top_k: 1 })).toEqual(['I love strong black coffee']);
      for (const top_k of [0, 101, 1.5]) {
        expect((await memory.call(user, 'POST', '/v1/memories/search', { query: 'x', top_k })).status).toBe(400);
      }
    },
  );

  verifies(
    ['memory:search:token-budget', 'memory:search:tokens-returned'],
    'the returned memories never exceed the token budget, and a shorter one replaces one that does not fit',
    async () => {
      const user = someone();
      await remembered(user, `coffee ${'and beans '.repeat(40)}`);
      await remembered(user, 'coffee');
      const search = async (token_budget: number) =>
        (await memory.call(user, 'POST', '/v1/memories/search', { query: 'coffee beans', token_budget })).json;
      expect(await search(1)).toMatchObject({ results: [{ memory: 'coffee' }], tokens_returned: 1 });
      const both = await search(200);
      expect(both['results']).toHaveLength(2);
      const tokens = (both['results'] as readonly { readonly tokens: number }[]).map((one) => one.tokens);
      expect(both['tokens_returned']).toBe(tokens.reduce((sum, one) => sum + one));
      for (const token_budget of [0, 200_001]) {
        expect((await memory.call(user, 'POST', '/v1/memories/search', { query: 'x', token_budget })).status).toBe(400);
      }
    },
  );

  verifies(
    ['memory:search:scope-filter', 'memory:search:compound-filter'],
    'filters of a search select a scope and combine conditions with AND, OR and NOT',
    async () => {
      const user = someone();
      await remembered(user, 'tea one', { metadata: { source: 'Chat', rank: 1 }, categories: ['drinks'] });
      await remembered(user, 'tea two', { agent_id: 'coach', metadata: { source: 'mail', rank: 2 } });
      await remembered(user, 'tea three', { agent_id: 'coach', run_id: 'r1', metadata: { rank: 3 } });
      const find = async (filters: object) => (await memory.find(user, 'tea', { filters })).toSorted();
      expect(await find({ agent_id: 'tutor' })).toEqual(['tea one']);
      expect(await find({ agent_id: 'coach', run_id: 'r1' })).toEqual(['tea three']);
      expect(await find({ AND: [{ agent_id: 'coach' }, { metadata: { rank: { gt: 2 } } }] })).toEqual(['tea three']);
      expect(await find({ OR: [{ run_id: '*' }, { metadata: { source: { icontains: 'CHAT' } } }] })).toEqual([
        'tea one',
        'tea three',
      ]);
      expect(await find({ NOT: [{ agent_id: 'coach' }] })).toEqual(['tea one']);
      expect(await find({ categories: { contains: 'drinks' } })).toEqual(['tea one']);
      expect(await find({ 'metadata.rank': { gte: 1, lt: 3 } })).toEqual(['tea one', 'tea two']);
      expect(await find({ agent_id: ['tutor', 'coach'], created_at: { lt: '2020-01-01' } })).toEqual([]);
      expect(await find({ user_id: user.user, created_at: { gte: '2020-01-01T00:00:00Z' } })).toHaveLength(3);
      const refused = await memory.call(user, 'POST', '/v1/memories/search', {
        query: 'x',
        filters: { agent_id: { near: 1 } },
      });
      expect(refused).toMatchObject({ status: 400, json: { message: expect.stringContaining('filters.agent_id') } });
    },
  );

  verifies(
    [
      'memory:list:ok',
      'memory:list:count',
      'memory:list:record-fields',
      'memory:list:page-size',
      'memory:list:no-filter',
    ],
    'a list returns the memories of a scope in pages, with the number of all matches',
    async () => {
      const user = someone();
      for (const text of ['one', 'two', 'three']) await remembered(user, text);
      await remembered(user, 'elsewhere', { agent_id: 'coach' });
      const first = (await memory.call(user, 'GET', '/v1/memories?agent_id=tutor&page_size=2')).json;
      expect(first).toMatchObject({
        count: 3,
        results: [
          { id: expect.any(String), memory: 'three', agent_id: 'tutor', run_id: null, created_at: expect.any(String) },
          { memory: 'two' },
        ],
      });
      await remembered(user, 'four');
      const next = `/v1/memories?agent_id=tutor&page_size=2&page_token=${first['next_page_token']}`;
      expect((await memory.call(user, 'GET', next)).json).toMatchObject({
        results: [{ memory: 'one' }],
        next_page_token: null,
      });
      expect((await memory.call(user, 'GET', '/v1/memories')).json).toMatchObject({ code: 'missing_filter' });
      for (const size of ['0', '201', 'x']) {
        expect((await memory.call(user, 'GET', `/v1/memories?agent_id=a&page_size=${size}`)).status).toBe(400);
      }
    },
  );

  verifies(
    ['memory:get:ok', 'memory:record:fields'],
    'a memory has all fields of the contract for its user and is 404 for others',
    async () => {
      const id = await remembered(ann, 'likes tea', { metadata: { a: 1 }, categories: ['drinks'] });
      const { status, json } = await memory.call(ann, 'GET', `/v1/memories/${id}`);
      expect(status).toBe(200);
      expect(json).toMatchObject({
        id,
        memory: 'likes tea',
        user_id: 'ann',
        agent_id: 'tutor',
        categories: ['drinks'],
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        created_at: expect.any(String),
        updated_at: expect.any(String),
        role: 'user',
      });
      for (const caller of [bob, { user: 'ann', tenant: 'other' }]) {
        for (const [method, path] of [
          ['GET', ''],
          ['DELETE', ''],
          ['GET', '/history'],
        ] as const) {
          expect((await memory.call(caller, method, `/v1/memories/${id}${path}`)).status).toBe(404);
        }
        expect((await memory.call(caller, 'PUT', `/v1/memories/${id}`, { text: 'taken' })).status).toBe(404);
        expect(await memory.find(caller, 'likes tea')).toEqual([]);
      }
    },
  );

  verifies(
    ['memory:update:ok', 'memory:update:visible-at-once', 'memory:history:update'],
    'a changed text is in the answer, in the next search and in the history',
    async () => {
      const user = someone();
      const id = await remembered(user, 'drinks green tea');
      expect(await memory.find(user, 'green tea')).toEqual(['drinks green tea']);
      const changed = await memory.call(user, 'PUT', `/v1/memories/${id}`, { text: 'drinks oolong' });
      expect(changed).toMatchObject({ status: 200, json: { id, memory: 'drinks oolong', source: null } });
      expect(await memory.find(user, 'green tea')).toEqual(['drinks oolong']);
      const history = (await memory.call(user, 'GET', `/v1/memories/${id}/history`)).json;
      expect(history).toMatchObject([
        { event: 'ADD', old_memory: null, new_memory: 'drinks green tea' },
        { event: 'UPDATE', old_memory: 'drinks green tea', new_memory: 'drinks oolong' },
      ]);
      expect((await memory.call(user, 'PUT', `/v1/memories/${unknown}`, { text: 'x' })).status).toBe(404);
    },
  );

  verifies(
    [
      ...(['memory:delete:message', 'memory:delete:gone-from-search', 'memory:delete:soft'] as const),
      ...(['memory:history:ok', 'memory:history:add', 'memory:history:delete', 'memory:history:event-values'] as const),
    ],
    'a deleted memory is neither found, listed nor read, and its history ends with DELETE',
    async () => {
      const user = someone();
      const id = await remembered(user, 'has a red bicycle');
      await remembered(user, 'has a cat');
      expect(await memory.find(user, 'bicycle')).toHaveLength(2);
      const deleted = await memory.call(user, 'DELETE', `/v1/memories/${id}`);
      expect(deleted).toMatchObject({ status: 200, json: { message: 'The memory was deleted.', id } });
      expect(await memory.find(user, 'bicycle')).toEqual(['has a cat']);
      expect(await memory.all(user)).toEqual(['has a cat']);
      for (const method of ['GET', 'DELETE']) {
        expect((await memory.call(user, method, `/v1/memories/${id}`)).status).toBe(404);
      }
      const { status, json } = await memory.call(user, 'GET', `/v1/memories/${id}/history`);
      expect(status).toBe(200);
      expect(json).toMatchObject([
        { event: 'ADD' },
        { event: 'DELETE', old_memory: 'has a red bicycle', new_memory: null },
      ]);
    },
  );

  verifies(
    [
      ...(['memory:delete-by-filter:ok', 'memory:delete-by-filter:only-matching'] as const),
      ...(['memory:delete-by-filter:irreversible', 'memory:delete-by-filter:response-fields'] as const),
      ...([
        'memory:delete-by-filter:no-filter',
        'memory:delete-by-filter:foreign-user',
        'memory:error:wrong-user-id',
      ] as const),
    ],
    'a deletion by filter permanently removes a scope with its history, and no other data',
    async () => {
      const user = someone();
      const id = await remembered(user, 'tea one');
      await remembered(user, 'tea two');
      await remembered(user, 'tea elsewhere', { agent_id: 'coach' });
      expect(await memory.find(user, 'tea')).toHaveLength(3);
      const unfiltered = await memory.call(user, 'DELETE', '/v1/memories');
      expect(unfiltered).toMatchObject({ status: 400, json: { code: 'missing_filter' } });
      const foreign = await memory.call(user, 'DELETE', '/v1/memories?user_id=bob&agent_id=tutor');
      expect(foreign.status).toBe(403);
      expect(foreign.json['message']).toContain('Wrong user ID');
      expect(await memory.all(user)).toHaveLength(3);
      const { status, json } = await memory.call(user, 'DELETE', '/v1/memories?agent_id=tutor');
      expect(status).toBe(200);
      expect(json).toEqual({ deleted_count: 2, cancelled_events: 0, confirmation_id: expect.stringMatching(/.{36}/) });
      expect(await memory.find(user, 'tea')).toEqual(['tea elsewhere']);
      expect((await memory.call(user, 'GET', `/v1/memories/${id}/history`)).status).toBe(404);
      const rows = await memory.database.database.sql`select 1 from memory.history where memory_id = ${id}`;
      expect(rows).toEqual([]);
    },
  );

  verifies(
    [
      'memory:session:set',
      'memory:session:get',
      'memory:session:response-fields',
      'memory:session:absent',
      'memory:session:ttl',
    ],
    'the state of a session can be replaced and read with its remaining seconds, and is absent after its expiry',
    async () => {
      const user = someone();
      const path = '/v1/sessions/s-1/state';
      expect((await memory.call(user, 'GET', path)).status).toBe(404);
      const set = await memory.call(user, 'POST', path, { state: { step: 1 }, ttl_seconds: 100 });
      expect(set).toMatchObject({
        status: 200,
        json: { session_id: 's-1', state: { step: 1 }, ttl_remaining_seconds: 100 },
      });
      await memory.call(user, 'POST', path, { state: { step: 2 }, ttl_seconds: 90_000 });
      const read = await memory.call(user, 'GET', path);
      expect(read.json).toMatchObject({ state: { step: 2 }, updated_at: expect.any(String) });
      expect(read.json['ttl_remaining_seconds']).toBeGreaterThan(80_000);
      expect(read.json['ttl_remaining_seconds']).toBeLessThanOrEqual(90_000);
      expect((await memory.call(ann, 'GET', path)).status).toBe(404);
      await memory.database.database.sql`update memory.sessions set expires_at = clock_timestamp()`;
      expect((await memory.call(user, 'GET', path)).status).toBe(404);
      for (const ttl_seconds of [0, memoryLimits.ttlSeconds.max + 1]) {
        expect((await memory.call(user, 'POST', path, { state: {}, ttl_seconds })).status).toBe(400);
      }
    },
  );

  verifies(
    ['memory:records:persistent'],
    'a memory is read, listed and found after a restart of the service',
    async () => {
      const user = someone();
      const id = await remembered(user, 'keeps bees on the roof');
      await using restarted = await openMemory({ database: memory.database });
      expect((await restarted.call(user, 'GET', `/v1/memories/${id}`)).json['memory']).toBe('keeps bees on the roof');
      expect(await restarted.all(user)).toEqual(['keeps bees on the roof']);
      expect(await restarted.find(user, 'bees')).toEqual(['keeps bees on the roof']);
    },
  );

  test('the same key with the same body is one add, and with another body a conflict', async () => {
    const user = someone();
    const send = (text: string) =>
      memory.call(user, 'POST', '/v1/memories', said(text, { infer: false }), { 'idempotency-key': 'k-1' });
    const first = await send('one');
    expect((await send('one')).json['event_id']).toBe(first.json['event_id']);
    expect(await send('two')).toMatchObject({ status: 409, json: { code: 'conflict' } });
    await memory.add(user, said('three', { infer: false }));
    // The event has ended, and its key still names it.
    expect(await send('one')).toMatchObject({ status: 202, json: { event_id: first.json['event_id'] } });
    expect(await send('two')).toMatchObject({ status: 409, json: { code: 'conflict' } });
    expect(await memory.all(user)).toEqual(['three', 'one']);
    const body = said('one', { infer: false });
    const other = await memory.call(someone(), 'POST', '/v1/memories', body, { 'idempotency-key': 'k-1' });
    expect(other.status).toBe(202);
    expect(other.json['event_id']).not.toBe(first.json['event_id']);
    await memory.call(user, 'POST', '/v1/erasures', { user_id: user.user });
    const anew = await send('two');
    expect(anew.status).toBe(202);
    expect(anew.json['event_id']).not.toBe(first.json['event_id']);
  });

  test('an export contains all data of a user, and after the erasure only a record without a name remains', async () => {
    const user = someone();
    const id = await remembered(user, 'has a blue boat');
    await memory.call(user, 'PUT', `/v1/memories/${id}`, { text: 'has a green boat' });
    await memory.call(user, 'POST', '/v1/sessions/s/state', { state: { a: 1 }, ttl_seconds: 60 });
    const exported = (await memory.call(user, 'GET', '/v1/export')).json;
    expect(exported).toMatchObject({
      user_id: user.user,
      memories: [{ memory: 'has a green boat', deleted_at: null }],
      history: [{ event: 'ADD' }, { event: 'UPDATE' }],
      events: [{ status: 'SUCCEEDED' }],
      sessions: [{ state: { a: 1 } }],
    });
    expect(await memory.find(user, 'boat')).toHaveLength(1);
    expect((await memory.call(user, 'POST', '/v1/erasures', { user_id: 'bob' })).status).toBe(403);
    const erased = await memory.call(user, 'POST', '/v1/erasures', { user_id: user.user });
    expect(erased.json).toMatchObject({ memories: 1, history_entries: 2, events: 1, sessions: 1 });
    expect(await memory.find(user, 'boat')).toEqual([]);
    expect((await memory.call(user, 'GET', '/v1/export')).json).toMatchObject({
      memories: [],
      history: [],
      events: [],
    });
    const people = await memory.database.database
      .sql`select 1 from memory.people where user_key like ${`%${user.user}"%`}`;
    expect(people).toEqual([]);
  });

  test('an expired memory is neither found, listed nor read, and its history gets a DELETE', async () => {
    const user = someone();
    const id = await remembered(user, 'parks on level 3', { expires_at: '2020-01-01T00:00:00Z' });
    expect(await memory.find(user, 'parks')).toEqual([]);
    expect(await memory.all(user)).toEqual([]);
    expect((await memory.call(user, 'GET', `/v1/memories/${id}`)).status).toBe(404);
    const history = await until('the worker has deleted it', async () => {
      const { json } = await memory.call(user, 'GET', `/v1/memories/${id}/history`);
      return Array.isArray(json) && json.length > 1 ? json : undefined;
    });
    expect(history).toMatchObject([
      { event: 'ADD', old_memory: null, new_memory: 'parks on level 3' },
      { event: 'DELETE', old_memory: 'parks on level 3', new_memory: null, event_id: null },
    ]);
  });

  test('facts are extracted only from messages of users, and without inference messages of assistants are stored, too', async () => {
    const user = someone();
    const messages = ['assistant', 'system', 'tool'].map((role) => ({ role, content: 'I live in Madrid.' }));
    await memory.add(user, { messages, agent_id: 'tutor' });
    expect(await memory.all(user)).toEqual([]);
    await memory.add(user, { messages, agent_id: 'tutor', infer: false });
    expect(await memory.all(user)).toEqual(['I live in Madrid.']);
  });

  test.each([
    ['an empty body', {}],
    ['no messages', { messages: [], agent_id: 'a' }],
    ['an unknown role', { messages: [{ role: 'robot', content: 'x' }], agent_id: 'a' }],
    ['an unknown member', { messages: [{ role: 'user', content: 'x' }], agent_id: 'a', mood: 'good' }],
    ['U+0000', { messages: [{ role: 'user', content: 'a\u0000b' }], agent_id: 'a' }],
    ['a year 0', { messages: [{ role: 'user', content: 'x' }], agent_id: 'a', expires_at: '0000-01-01T00:00:00Z' }],
    ['too many messages', { messages: new Array(101).fill({ role: 'user', content: 'x' }), agent_id: 'a' }],
    ['metadata with U+0000', { messages: [{ role: 'user', content: 'x' }], agent_id: 'a', metadata: { a: '\u0000' } }],
  ])('an add of memories with %s is refused completely', async (_what, body) => {
    const { status, json } = await memory.call(ann, 'POST', '/v1/memories', body);
    expect(status).toBe(400);
    expect(json).toEqual({ code: expect.any(String), message: expect.any(String), trace_id: expect.any(String) });
  });

  test('a request without a user is refused, and health requires no user', async () => {
    expect((await memory.call({}, 'GET', '/v1/memories?agent_id=a')).status).toBe(401);
    const health = await fetch(`${memory.url}/health`);
    expect(await health.json()).toMatchObject({ status: 'ok', components: { postgres: 'ok', queue: 'ok' } });
  });
});
