import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { memoryLimits } from '#contracts/memory';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { type OpenedMemory, openMemory } from '../testing/open-memory.ts';

const ann = { user: 'ann' };
const said = (content: string, more: object = {}) => ({
  messages: [{ role: 'user', content }],
  agent_id: 'tutor',
  ...more,
});

describe.skipIf(missingPostgres !== undefined)(onPostgres('the memory service at the edges of its inputs'), () => {
  let memory: OpenedMemory;
  beforeAll(async () => {
    memory = await openMemory();
  });
  afterAll(() => memory[Symbol.asyncDispose]());

  const given = async (user: { user: string }, more: object) => {
    const event = await memory.add(user, said('kept', { infer: false, ...more }));
    const [id] = event['memory_ids'] as readonly string[];
    return (await memory.call(user, 'GET', `/v1/memories/${id}`)).json;
  };

  test.each([
    ['2040-01-01T00:00:00+23:59', '2039-12-31T00:01:00.000Z'],
    ['2040-01-01T00:00:00-23:59', '2040-01-01T23:59:00.000Z'],
    ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59.000Z'],
    ['2040-02-29T00:00:00.123456789Z', '2040-02-29T00:00:00.123Z'],
  ])('the expiry %s of a memory is stored in UTC', async (expires_at, shown) => {
    expect((await given({ user: `until ${expires_at}` }, { expires_at }))['expires_at']).toBe(shown);
  });

  test.each([
    '9999-12-31T23:59:59-00:01',
    '0001-01-01T00:00:00+00:01',
    '0000-06-01T00:00:00Z',
    '2016-12-31T23:59:60Z',
    '2026-02-29T00:00:00Z',
  ])('the expiry date %s of a memory is refused', async (date) => {
    expect((await memory.call(ann, 'POST', '/v1/memories', said('x', { expires_at: date }))).status).toBe(400);
    const messages = [{ role: 'user', content: 'x', created_at: date }];
    expect((await memory.call(ann, 'POST', '/v1/memories', { messages, agent_id: 'a' })).status).toBe(400);
  });

  test.each(['0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z'])(
    'words for dates whose year does not have four digits stay unchanged in a message of %s',
    async (created_at) => {
      const user = { user: `said at ${created_at}` };
      const content = 'I moved to Porto last year. I plan to visit Rome next year. I sold my car yesterday.';
      const event = await memory.add(user, { messages: [{ role: 'user', content, created_at }], agent_id: 'a' });
      expect(event).toMatchObject({ status: 'SUCCEEDED' });
      const texts = await memory.all(user);
      expect(texts).toHaveLength(3);
      expect(texts.join()).not.toMatch(/\((?!\d{4}(?:-\d{2}-\d{2})?\))|19\d\d/);
    },
  );

  test.each([
    ['2026-05-02T01:00:00+03:00', '2026-05-01', '2026-05-01T22:00:00.000Z'],
    ['2026-05-01T23:00:00-03:00', '2026-04-30', '2026-05-02T02:00:00.000Z'],
    ['2026-05-01T23:00:00Z', '2026-04-30', '2026-05-01T23:00:00.000Z'],
  ])(
    'a day in words is counted in the zone of the message: yesterday of %s is %s',
    async (created_at, day, said_at) => {
      const user = { user: `zone of ${said_at}` };
      const messages = [
        // A message without a time uses the time zone of the next message.
        { role: 'user', content: 'I sold my car yesterday.' },
        { role: 'user', content: 'I moved to Porto yesterday.', created_at },
      ];
      await memory.add(user, { messages, agent_id: 'a' });
      expect((await memory.all(user)).toSorted()).toEqual([
        `I moved to Porto yesterday (${day})`,
        `I sold my car yesterday (${day})`,
      ]);
      const { json } = await memory.call(user, 'GET', '/v1/memories?agent_id=a');
      expect(json['results']).toMatchObject([{ source: { said_at } }, { source: { said_at } }]);
    },
  );

  test('metadata keeps text that looks like an escape, and every name and number of JSON', async () => {
    const metadata = {
      path: 'C:\\u0000\\x',
      constructor: 1,
      toString: { valueOf: [1e308, -5e-324, 0.1, 9007199254740991] },
      '': '',
      'a.b': [[[]]],
    };
    expect((await given({ user: 'meta' }, { metadata }))['metadata']).toEqual(metadata);
    for (const name of ['\u0000', '\\\u0000']) {
      const body = said('x', { metadata: { [name]: 1 } });
      expect((await memory.call(ann, 'POST', '/v1/memories', body)).status).toBe(400);
    }
  });

  test('a JSON member named __proto__ is refused at any depth and never dropped silently', async () => {
    const post = (path: string, body: string) =>
      fetch(`${memory.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-tenant-id': 'acme', 'x-user-id': 'proto' },
        body,
      });
    const messages = '"messages": [{"role": "user", "content": "x"}], "agent_id": "a"';
    const refused = await post('/v1/memories', `{${messages}, "metadata": {"__proto__": {"a": 1}}}`);
    expect(refused.status).toBe(400);
    for (const nested of ['{"a": {"__proto__": 1}}', '{"a": [{"b": {"__proto__": {}}}]}']) {
      const answer = await post('/v1/memories', `{${messages}, "metadata": ${nested}}`);
      expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([400, 'invalid_request']);
    }
    expect((await post('/v1/memories', `{${messages}, "metadata": {"a": "__proto__"}}`)).status).toBe(202);
    const state = await post('/v1/sessions/s/state', '{"state": {"__proto__": {"a": 1}}, "ttl_seconds": 60}');
    expect(state.status).toBe(400);
    const filters = await post('/v1/memories/search', '{"query": "x", "filters": {"__proto__": {"eq": 1}}}');
    expect(filters.status).toBe(400);
  });

  test.each([
    ['AND of many empty conditions', { AND: new Array(128).fill({}) }],
    ['many members of metadata', { metadata: Object.fromEntries(Array.from({ length: 128 }, (_, at) => [at, 1])) }],
    [
      'many members of nested metadata',
      { metadata: { a: Object.fromEntries([...Array(127)].map((_, at) => [at, 1])) } },
    ],
  ])('search filters with %s are refused, and filters with fewer are accepted', async (_what, filters) => {
    const find = (own: unknown) => memory.call(ann, 'POST', '/v1/memories/search', { query: 'x', filters: own });
    expect(await find(filters)).toMatchObject({ status: 400, json: { message: expect.stringContaining('128') } });
    const fewer = JSON.parse(JSON.stringify(filters), (key, value) => (key === '126' ? undefined : value));
    const list = { AND: new Array(127).fill({}) };
    expect((await find('AND' in filters ? list : fewer)).status).toBe(200);
  });

  const faultyFilters: readonly unknown[] = [
    null,
    [],
    'agent_id',
    1,
    { agent_id: null },
    { agent_id: {} },
    { agent_id: [] },
    { agent_id: { constructor: 1 } },
    { toString: 1 },
    { AND: {} },
    { AND: [null] },
    { OR: [] },
    { NOT: 1 },
    { NOT: { NOT: { NOT: { NOT: { NOT: { NOT: { NOT: { NOT: { role: 'user' } } } } } } } } },
    { created_at: 1e308 },
    { created_at: '2026-02-30' },
    { created_at: '2026-01-01T24:00:00Z' },
    { created_at: { contains: '' } },
    { 'metadata.a': { gt: true } },
    { 'metadata.a': { in: [[]] } },
    { [`metadata.${'a'.repeat(256)}`]: 1 },
    { user_id: ['ann'] },
  ];
  test.each(faultyFilters.map((filters) => [filters] as const))(
    'the search filters %j are refused',
    async (filters) => {
      const { status, json } = await memory.call(ann, 'POST', '/v1/memories/search', { query: 'x', filters });
      expect([status, json['code']]).toEqual([400, 'invalid_request']);
    },
  );

  const foreignFilters: readonly unknown[] = [
    { user_id: 'bob' },
    { user_id: { eq: 'bob' } },
    { user_id: ['ann', 'bob'] },
    { user_id: { in: ['bob'] } },
    { user_id: { ne: 'bob' } },
    { OR: [{ user_id: 'ann' }, { NOT: { user_id: 'bob' } }] },
  ];
  test.each(foreignFilters.map((filters) => [filters] as const))(
    'the search filters %j name another user',
    async (filters) => {
      const { status, json } = await memory.call(ann, 'POST', '/v1/memories/search', { query: 'x', filters });
      expect([status, json['message']]).toEqual([403, 'Wrong user ID.']);
    },
  );

  test.each([
    ['agent_id=a&page_size=0', 'page_size must be a whole number from 1 to 200.'],
    ['agent_id=a&page_size=x', 'page_size must be a whole number from 1 to 200.'],
    ['agent_id=', 'agent_id must have 1 to 255 characters.'],
    ['agent_id=a&page_token=abc', 'page_token is not valid.'],
    ['agent=a', 'the query has an unknown parameter.'],
    ['agent_id=a&agent_id=b', 'agent_id is sent more than once.'],
    ['agent=a&agent=b', 'the query has an unknown parameter.'],
  ])('the error of a list with the query %s names the parameter: %s', async (query, message) => {
    const { status, json } = await memory.call(ann, 'GET', `/v1/memories?${query}`);
    expect([status, json['code'], json['message']]).toEqual([400, 'invalid_request', message]);
  });

  test('search filters compare as many members of metadata as the limit, and further members only as absent', async () => {
    const user = { user: 'members' };
    const name = (at: number) => `k${at}`.padEnd(3, '_');
    const members = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [name(at), at]));
    await given(user, { metadata: members(65), categories: ['c'], run_id: 'r' });
    const found = async (filters: object) => (await memory.find(user, 'kept', { filters })).length;
    // The database orders names of equal length by their bytes.
    const last = Object.keys(members(65)).toSorted();
    const [at63 = '', at64 = ''] = last.slice(63);
    const value = members(65);
    expect(await found({ [`metadata.${at63}`]: value[at63] })).toBe(1);
    expect(await found({ metadata: { [at64]: value[at64] } })).toBe(0);
    expect(await found({ metadata: { [at64]: { ne: value[at64] } } })).toBe(1);
  });

  test('search filters address members of metadata exactly, whatever characters their names have', async () => {
    const user = { user: 'names' };
    const names = ['a.b', 'a', 'q"', "it's", '[0]', 'x[0].y', 'a\\', '', ' ', '$.a', 'lower:a', 'AND'];
    const metadata = Object.fromEntries(names.map((name, at) => [name, name === 'a' ? { b: 'inner' } : `own ${at}`]));
    await given(user, { metadata });
    const found = async (filters: object) => (await memory.find(user, 'kept', { filters })).length;
    for (const [name, value] of Object.entries(metadata)) {
      const text = name.replaceAll(/[\\.]/g, '\\$&');
      expect([name, await found({ metadata: { [name]: value } })]).toEqual([name, 1]);
      if (name !== 'a') expect([name, await found({ [`metadata.${text}`]: value })]).toEqual([name, 1]);
      for (const other of names) {
        if (other === name || name === 'a') continue;
        expect([name, other, await found({ metadata: { [other]: value } })]).toEqual([name, other, 0]);
      }
    }
    expect(await found({ 'metadata.a.b': 'inner' })).toBe(1);
    expect(await found({ 'metadata.a.b': 'own 0' })).toBe(0);
    expect(await found({ 'metadata.a\\.b': 'inner' })).toBe(0);
    expect(await found({ metadata: { 'a.b': { icontains: 'OWN' } } })).toBe(1);
    expect(await found({ metadata: { 'a.b': '*', 'a.c': { ne: '*' } } })).toBe(1);
  });

  test('a change by PUT replaces all metadata, and names that contain dots stay unchanged', async () => {
    const user = { user: 'renamed' };
    const { id } = await given(user, { metadata: { a: { b: 1 } } });
    const metadata = { 'a.b': 2, 'c"[0]': 3 };
    const { json } = await memory.call(user, 'PUT', `/v1/memories/${id}`, { text: 'kept', metadata });
    expect(json['metadata']).toEqual(metadata);
    const found = async (filters: object) => (await memory.find(user, 'kept', { filters })).length;
    expect(await found({ metadata: { 'a.b': 2, 'c"[0]': 3 } })).toBe(1);
    expect(await found({ 'metadata.a.b': '*' })).toBe(0);
  });

  test('the value "*" of a search filter matches any value of a memory, including objects and lists of metadata', async () => {
    const user = { user: 'present' };
    await given(user, { metadata: { object: { inner: 1 }, list: [], nothing: null, far: 'x'.repeat(1_025) } });
    const found = async (filters: object) => (await memory.find(user, 'kept', { filters })).length;
    for (const path of ['metadata.object', 'metadata.object.inner', 'metadata.list', 'agent_id', 'created_at']) {
      expect([path, await found({ [path]: '*' }), await found({ [path]: { ne: '*' } })]).toEqual([path, 1, 0]);
    }
    for (const path of ['metadata.nothing', 'metadata.far', 'metadata.other', 'categories', 'run_id']) {
      expect([path, await found({ [path]: '*' }), await found({ [path]: { ne: '*' } })]).toEqual([path, 0, 1]);
    }
    await memory.add(user, said('kept too', { infer: false, categories: ['c'] }));
    expect(await memory.find(user, 'kept', { filters: { categories: '*' } })).toEqual(['kept too']);
  });

  test('search filters compare numbers of every size and never match a value of another type', async () => {
    const user = { user: 'numbers' };
    await given(user, { metadata: { n: 1e308, s: '1', z: -0, b: false, list: [1, 5], words: ['a', 'c'] } });
    const count = async (filters: object) => (await memory.find(user, 'kept', { filters })).length;
    expect(await count({ 'metadata.n': { gt: 1e307 } })).toBe(1);
    expect(await count({ 'metadata.n': { lt: 1e308 } })).toBe(0);
    expect(await count({ 'metadata.list': { gt: 1 } })).toBe(1);
    expect(await count({ 'metadata.list': { gt: 5 } })).toBe(0);
    expect(await count({ 'metadata.words': { lt: 'c' } })).toBe(1);
    expect(await count({ 'metadata.words': { lt: 'a' } })).toBe(0);
    expect(await count({ 'metadata.s': 1 })).toBe(0);
    expect(await count({ 'metadata.z': 0 })).toBe(1);
    expect(await count({ 'metadata.b': { ne: true } })).toBe(1);
    expect(await count({ 'metadata.__proto__': '*' })).toBe(0);
    expect(await count({ metadata: { constructor: '*' } })).toBe(0);
  });

  test.each(['..%2F..', '%E2%98%83', '%20', 'a%2Fb', '%25', "'%22%3B--", '%F0%9F%98%80', 'x'.repeat(255)])(
    'the session id %s names one session',
    async (id) => {
      const path = `/v1/sessions/${id}/state`;
      const set = await memory.call(ann, 'POST', path, { state: { id }, ttl_seconds: 60 });
      expect(set).toMatchObject({ status: 200, json: { session_id: decodeURIComponent(id), state: { id } } });
      expect((await memory.call(ann, 'GET', path)).json['state']).toEqual({ id });
    },
  );

  test.each(['%00', 'x'.repeat(256), ''])('the session id %j is refused', async (id) => {
    const { status } = await memory.call(ann, 'GET', `/v1/sessions/${id}/state`);
    expect([400, 404]).toContain(status);
    const set = await memory.call(ann, 'POST', `/v1/sessions/${id}/state`, { state: {}, ttl_seconds: 60 });
    expect([400, 404]).toContain(set.status);
  });

  test('U+0000 and unpaired surrogates are refused in every text of a body', async () => {
    const id = (await given({ user: 'ann' }, {}))['id'];
    for (const bad of ['a\u0000b', 'a\ud800b']) {
      const bodies: readonly (readonly [string, string, object])[] = [
        ['POST', '/v1/memories', said(bad)],
        ['POST', '/v1/memories', said('x', { agent_id: bad })],
        ['POST', '/v1/memories', said('x', { run_id: bad })],
        ['POST', '/v1/memories', said('x', { user_id: bad })],
        ['POST', '/v1/memories', said('x', { categories: [bad] })],
        ['POST', '/v1/memories', said('x', { metadata: { a: [bad] } })],
        ['POST', '/v1/memories', said('x', { metadata: { [bad]: 1 } })],
        ['POST', '/v1/memories/search', { query: bad }],
        ['PUT', `/v1/memories/${id}`, { text: bad }],
        ['PUT', `/v1/memories/${id}`, { text: 'x', categories: [bad] }],
        ['PUT', `/v1/memories/${id}`, { text: 'x', metadata: { a: bad } }],
        ['POST', '/v1/sessions/s/state', { state: { a: bad }, ttl_seconds: 60 }],
        ['POST', '/v1/erasures', { user_id: bad }],
      ];
      for (const [method, path, body] of bodies) {
        expect([path, (await memory.call(ann, method, path, body)).status]).toEqual([path, 400]);
      }
    }
    const filters = { 'metadata.a': 'a\u0000b', agent_id: { contains: '\u0000' } };
    expect(await memory.find(ann, 'kept', { filters })).toEqual([]);
  });

  test('an add with more facts than allowed ends as FAILED, and an add with as many as allowed as SUCCEEDED', async () => {
    const user = { user: 'talker' };
    const facts = (count: number) => Array.from({ length: count }, (_, at) => `I like food${at}.`);
    const of = (count: number) => said(facts(count).join(' '));
    expect(await memory.add(user, of(memoryLimits.factsOfAdd + 1))).toMatchObject({
      status: 'FAILED',
      memory_ids: [],
      error: expect.stringContaining('1000'),
    });
    const event = await memory.add(user, of(memoryLimits.factsOfAdd));
    expect(event['status']).toBe('SUCCEEDED');
    expect(event['memory_ids']).toHaveLength(1_000);
  });

  test('an add with more changes than allowed ends as FAILED, and an add with as many as allowed as SUCCEEDED', async () => {
    const user = { user: 'changer' };
    await memory.add(user, said('I live in Rome.'));
    const of = (count: number) => said(Array.from({ length: count }, (_, at) => `I gave up game${at}.`).join(' '));
    expect(await memory.add(user, of(memoryLimits.changesOfAdd + 1))).toMatchObject({
      status: 'FAILED',
      memory_ids: [],
      error: 'the messages state more than 100 changes: add them in parts',
    });
    expect(await memory.add(user, of(memoryLimits.changesOfAdd))).toMatchObject({ status: 'SUCCEEDED' });
    expect(await memory.all(user)).toContain('I live in Rome');
  });

  test('of sentences that only name a new value as many as allowed are compared, and the add succeeds', async () => {
    const of = (count: number) =>
      said(
        [
          ...Array.from({ length: count }, (_, at) => `game${at} is on Friday now.`),
          'the wedding is in July now.',
        ].join(' '),
      );
    const after = async (user: { readonly user: string }, count: number) => {
      await memory.add(user, said('My wedding is in June.'));
      expect(await memory.add(user, of(count))).toMatchObject({ status: 'SUCCEEDED' });
      return memory.all(user);
    };
    expect(await after({ user: 'bride' }, memoryLimits.changesOfAdd - 1)).toEqual(['the wedding is in July now']);
    expect(await after({ user: 'groom' }, memoryLimits.changesOfAdd)).toEqual(['My wedding is in June']);
  });
});
