import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { type OpenedMemory, openMemory } from '../testing/open-memory.ts';

const saying = (...contents: readonly string[]) => ({
  messages: contents.map((content) => ({ role: 'user', content })),
  agent_id: 'tutor',
  infer: false,
});
const refused = { status: 429, json: { code: 'rate_limited' } };
const small = { userMemories: 3, tenantUsers: 2, tenantOpenEvents: 3 };
const wide = { userMemories: 100, tenantUsers: 100, tenantOpenEvents: 100 };

describe.skipIf(missingPostgres !== undefined)(onPostgres('quotas of the memory service'), () => {
  const services = new AsyncDisposableStack();
  const open = async (quota: Partial<typeof small>): Promise<OpenedMemory> =>
    services.use(
      await openMemory({
        config: { embeddingProfile: undefined, quota: { ...wide, ...quota } },
        // No maintenance deletes expired memories during the test.
        overrides: { times: { pollMs: 100, maintainMs: 3_600_000 } },
      }),
    );
  const refusals = async (memory: OpenedMemory, quota: string) => {
    const text = await (await fetch(`${memory.adminUrl}/metrics`)).text();
    const line = text.split('\n').find((one) => one.includes('quota_refusals_total{') && one.includes(`"${quota}"`));
    return Number(line?.split(' ').at(-1));
  };
  let memories: OpenedMemory;
  let users: OpenedMemory;
  let events: OpenedMemory;
  beforeAll(async () => {
    memories = await open({ userMemories: small.userMemories });
    users = await open({ tenantUsers: small.tenantUsers });
    events = await open({ tenantOpenEvents: small.tenantOpenEvents });
  });
  afterAll(() => services.disposeAsync());

  test('an add that would exceed the memories of a user is FAILED and stores nothing, and a change within the quota is stored', async () => {
    const user = { user: 'full' };
    const add = (...contents: readonly string[]) => memories.add(user, saying(...contents));
    await memories.say(user, 'I live in Rome.');
    await add('filler');
    expect(await add('one', 'two')).toMatchObject({
      status: 'FAILED',
      memory_ids: [],
      error: 'a user has at most 3 memories',
    });
    expect(await add('one')).toMatchObject({ status: 'SUCCEEDED' });
    expect(await add('two')).toMatchObject({ status: 'FAILED' });
    expect(await memories.say(user, 'I live in Oslo.')).toMatchObject({
      status: 'SUCCEEDED',
      decisions: [{ decision: 'UPDATE' }],
    });
    expect(await memories.all(user)).toEqual(['one', 'filler', 'I live in Oslo']);
    expect(await refusals(memories, 'user_memories')).toBe(2);
  });

  test('expired memories, and those that the same add forgets, do not count', async () => {
    const user = { user: 'changing' };
    const past = { ...saying('past', 'long past'), expires_at: '2001-01-01T00:00:00Z' };
    expect(await memories.add(user, past)).toMatchObject({ status: 'SUCCEEDED' });
    expect(await memories.add(user, saying('one', 'two'))).toMatchObject({ status: 'SUCCEEDED' });
    await memories.say(user, 'I am allergic to peanuts.');
    const swapped = await memories.say(user, 'Forget that I am allergic to peanuts. I live in Oslo.');
    expect(swapped).toMatchObject({ status: 'SUCCEEDED', decisions: [{ decision: 'DELETE' }, { decision: 'ADD' }] });
    expect(await memories.all(user)).toEqual(['I live in Oslo', 'two', 'one']);
    expect(await memories.add(user, saying('three'))).toMatchObject({ status: 'FAILED' });
  });

  test('a tenant may have as many users as its quota; a further one is refused until another was erased', async () => {
    const add = (user: string, tenant = 'acme') => users.call({ user, tenant }, 'POST', '/v1/memories', saying('kept'));
    const keep = (user: string) =>
      users.call({ user }, 'POST', '/v1/sessions/chat/state', { state: {}, ttl_seconds: 60 });
    expect((await add('ann')).status).toBe(202);
    expect((await keep('bob')).status).toBe(200);
    expect(await add('cid')).toMatchObject(refused);
    expect(await keep('cid')).toMatchObject(refused);
    expect(await refusals(users, 'tenant_users')).toBe(2);
    expect((await users.call({ user: 'cid' }, 'GET', '/v1/memories?agent_id=tutor')).json['count']).toBe(0);
    expect((await add('bob')).status).toBe(202);
    expect((await add('cid', 'other')).status).toBe(202);
    expect((await users.call({ user: 'ann' }, 'POST', '/v1/erasures', { user_id: 'ann' })).status).toBe(200);
    expect((await add('cid')).status).toBe(202);
  });

  test('a tenant may have as many open adds as its quota; a further one is refused unless it repeats a key', async () => {
    const add = (user: string, headers: Record<string, string> = {}, tenant = 'acme') =>
      events.call({ user, tenant }, 'POST', '/v1/memories', saying('kept'), headers);
    await events.add({ user: 'ann' }, saying('kept'));
    const { sql } = events.database.database;
    // No worker claims these events, because they are due later.
    await sql`
      insert into memory.events (event_id, person, tenant, agent_id, infer, messages, digest, trace_id, due_at)
      select gen_random_uuid(), person, tenant, 'tutor', false, '[]', '', '', clock_timestamp() + interval '1 hour'
      from memory.people, generate_series(1, ${small.tenantOpenEvents - 1}::int)`;
    const key = { 'idempotency-key': 'last' };
    const last = await add('ann', key);
    expect(last.status).toBe(202);
    expect(await add('bob')).toMatchObject(refused);
    expect(await refusals(events, 'tenant_open_events')).toBe(1);
    expect(await add('ann', key)).toMatchObject({ status: 202, json: { event_id: last.json['event_id'] } });
    expect((await add('bob', {}, 'other')).status).toBe(202);
    await events.call({ user: 'ann' }, 'DELETE', '/v1/memories?agent_id=tutor');
    expect((await add('bob')).status).toBe(202);
  });
});
