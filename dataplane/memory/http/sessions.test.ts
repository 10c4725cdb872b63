import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { memoryLimits } from '#contracts/memory';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { type OpenedMemory, openMemory } from '../testing/open-memory.ts';

const pathOf = (id: string) => `/v1/sessions/${id}/state`;

describe.skipIf(missingPostgres !== undefined)(onPostgres('sessions of two replicas of the memory service'), () => {
  const parts = new AsyncDisposableStack();
  let replicas: readonly [OpenedMemory, OpenedMemory];
  beforeAll(async () => {
    const first = parts.use(await openMemory());
    replicas = [first, parts.use(await openMemory({ database: first.database }))];
  });
  afterAll(() => parts.disposeAsync());

  const replica = (at: number): OpenedMemory => replicas[at % 2] as OpenedMemory;
  const set = (caller: { user: string }, id: string, state: object, ttl_seconds = 600, at = 0) =>
    replica(at).call(caller, 'POST', pathOf(id), { state, ttl_seconds });
  const get = (caller: { user: string }, id: string, at = 0) => replica(at).call(caller, 'GET', pathOf(id));
  /** Stores states of sessions past the API. */
  async function fill(user: string, count: number, expires: string): Promise<void> {
    await replicas[0].database.database.sql`
      insert into memory.sessions (person, session_id, state, expires_at, updated_at)
      select person, 'filled-' || ${expires}::text || n, '{}', clock_timestamp() + ${expires}::interval, clock_timestamp()
      from memory.people, generate_series(1, ${count}::int) n where user_key like ${`%"${user}"]`}`;
  }

  test('simultaneous replacements and reads of one session never mix two states, and the last replacement stays', async () => {
    const user = { user: 'simultaneous' };
    const stateOf = (at: number) => ({ at, items: new Array(50).fill(at), text: `${at}`.repeat(500) });
    await set(user, 's', stateOf(0), 1_000);
    const writes = Array.from({ length: 40 }, (_, at) => set(user, 's', stateOf(at + 1), 1_001 + at, at));
    const reads = Array.from({ length: 40 }, (_, at) => get(user, 's', at));
    const written = await Promise.all(writes);
    for (const { status, json } of await Promise.all(reads)) {
      expect(status).toBe(200);
      const { at } = json['state'] as { readonly at: number };
      expect(json['state']).toEqual(stateOf(at));
      // The time to live belongs to the same replacement as the state.
      expect(json['ttl_remaining_seconds']).toBeGreaterThan(1_000 + at - 60);
      expect(json['ttl_remaining_seconds']).toBeLessThanOrEqual(1_000 + at);
    }
    expect(written.map(({ status }) => status)).toEqual(new Array(40).fill(200));
    const order = written.toSorted((a, b) => `${a.json['updated_at']}`.localeCompare(`${b.json['updated_at']}`));
    const last = order.at(-1)?.json['updated_at'];
    const final = (await get(user, 's', 1)).json;
    expect(final['updated_at']).toBe(last);
    const candidates = written.filter(({ json }) => json['updated_at'] === last).map(({ json }) => json['state']);
    expect(candidates).toContainEqual(final['state']);
  });

  test('a state may have as many bytes of UTF-8 as the limit, and one byte more is refused and changes nothing', async () => {
    const user = { user: 'large' };
    for (const letter of ['x', 'ж']) {
      const overhead = Buffer.byteLength(JSON.stringify({ a: '' }));
      const whole = letter.repeat((memoryLimits.stateBytes - overhead) / Buffer.byteLength(letter));
      expect((await set(user, 's', { a: whole })).status).toBe(200);
      const refused = await set(user, 's', { a: `${whole}x` });
      expect(refused).toMatchObject({ status: 400, json: { code: 'invalid_request' } });
      expect(refused.json['message']).toContain(`${memoryLimits.stateBytes} bytes`);
      expect((await get(user, 's')).json['state']).toEqual({ a: whole });
    }
  });

  test('a user has as many sessions as the limit; the next one is refused, and a replacement is not', async () => {
    const user = { user: 'many' };
    await set(user, 'first', {});
    await fill(user.user, memoryLimits.sessions - 2, '1 hour');
    expect((await set(user, 'last', {})).status).toBe(200);
    expect(await set(user, 'another', {})).toMatchObject({ status: 429, json: { code: 'rate_limited' } });
    expect((await get(user, 'another')).status).toBe(404);
    expect(await set(user, 'last', { a: 1 })).toMatchObject({ status: 200, json: { state: { a: 1 } } });
    expect((await set({ user: 'other' }, 'another', {})).status).toBe(200);
    await replicas[0].database.database.sql`
      update memory.sessions set expires_at = clock_timestamp()
      where session_id = 'first' and person = (select person from memory.people where user_key like '%"many"]')`;
    expect((await set(user, 'another', {})).status).toBe(200);
  });

  test('simultaneous first states of sessions through two replicas stop at the limit exactly', async () => {
    const user = { user: 'racing' };
    await set(user, 'first', {});
    await fill(user.user, memoryLimits.sessions - 11, '1 hour');
    const answers = await Promise.all(Array.from({ length: 30 }, (_, at) => set(user, `new-${at}`, {}, 600, at)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(20);
  });

  test('the remaining seconds decrease with the clock of the database until the state is absent', async () => {
    const user = { user: 'short' };
    for (const ttl of [memoryLimits.ttlSeconds.min, memoryLimits.ttlSeconds.max]) {
      expect((await set(user, 'bound', {}, ttl)).json['ttl_remaining_seconds']).toBe(ttl);
    }
    await set(user, 's', {}, 3);
    await until('fewer seconds remain', async () => {
      const left = (await get(user, 's')).json['ttl_remaining_seconds'] as number;
      return left < 3 && left >= 1;
    });
    await until('the state is absent', async () => (await get(user, 's')).status === 404);
    expect((await set(user, 's', { again: true }, 100)).status).toBe(200);
    expect((await get(user, 's', 1)).json['state']).toEqual({ again: true });
  });

  test('expired states of sessions are removed, and other states stay', async () => {
    const user = { user: 'removed' };
    const { sql } = replicas[0].database.database;
    await set(user, 'kept', { a: 1 });
    await fill(user.user, 500, '-1 second');
    const rows = async () =>
      (
        await sql<{ session_id: string }[]>`
          select session_id from memory.sessions s join memory.people p using (person)
          where p.user_key like '%"removed"]'`
      ).map(({ session_id }) => session_id);
    await until('the expired rows are gone', async () => (await rows()).length === 1);
    expect(await rows()).toEqual(['kept']);
    expect((await get(user, 'kept')).json['state']).toEqual({ a: 1 });
  });
});
