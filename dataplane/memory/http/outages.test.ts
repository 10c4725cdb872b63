import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { ModelsError } from '#models/models-error';
import { connectSql, passwordFrom } from '#sql/connect';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { hashedWords } from '../../../e2e/support/hashed-words.ts';
import { type OpenedMemory, openMemory } from '../testing/open-memory.ts';

const ann = { user: 'ann' };
const messages = [{ role: 'user', content: 'I live in Lisbon.' }];
const call = (name: string, args: object) => ({
  ...{ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
});

describe.skipIf(missingPostgres !== undefined)(onPostgres('the memory service without a dependency'), () => {
  let memory: OpenedMemory;
  let isModelAway = false;
  beforeAll(async () => {
    const models = hashedWords(() => {
      if (isModelAway) throw new ModelsError('unavailable');
    });
    memory = await openMemory({ overrides: { models } });
  });
  afterAll(() => memory?.[Symbol.asyncDispose]());

  /** Runs an action while the database refuses all connections. */
  async function withoutDatabase(action: () => Promise<void>): Promise<void> {
    const { url, passwordFile } = memory.database;
    const name = new URL(url).pathname.slice(1);
    const server = new URL('/postgres', url).href;
    await using admin = connectSql({ url: server, password: passwordFrom(passwordFile), applicationName: 'outage' });
    const { sql } = admin;
    await sql`alter database ${sql(name)} with allow_connections false`;
    try {
      await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`;
      await action();
    } finally {
      await sql`alter database ${sql(name)} with allow_connections true`;
    }
  }

  test('a search by meaning is 503 while the profile of the settings is not approved, and one by words is answered', async () => {
    await using other = await openMemory({ config: { embeddingProfile: 'withdrawn' } });
    await other.say(ann, 'I live in Lisbon.');
    const search = (more: object) => other.call(ann, 'POST', '/v1/memories/search', { query: 'Lisbon', ...more });
    for (const more of [{}, { mode: 'hybrid' }, { mode: 'semantic' }]) {
      expect(await search(more)).toMatchObject({ status: 503, json: { code: 'unavailable' } });
    }
    expect(await search({ mode: 'bm25' })).toMatchObject({
      status: 200,
      json: { results: [{ memory: 'I live in Lisbon' }] },
    });
  });

  test('a write that the database rolls back because of concurrent writes is repeated three times, then answered 503', async () => {
    const { sql } = memory.database.database;
    const path = '/v1/sessions/conflicts/state';
    const set = (n: number) => memory.call(ann, 'POST', path, { state: { n }, ttl_seconds: 600 });
    const state = async () => (await memory.call(ann, 'GET', path)).json['state'];
    await set(0);
    await sql.unsafe(`
      create sequence public.conflicts;
      create table public.most (conflicts int);
      insert into public.most values (3);
      create function public.conflict() returns trigger language plpgsql as $$ begin
        if nextval('public.conflicts') <= (select conflicts from public.most) then
          raise exception 'another transaction' using errcode = '40P01';
        end if;
        return new;
      end $$;
      create trigger conflict before update on memory.sessions for each row execute function public.conflict();`);
    expect([(await set(1)).status, await state()]).toEqual([200, { n: 1 }]);
    await sql`update public.most set conflicts = 4`;
    await sql`alter sequence public.conflicts restart`;
    const { status, json, headers } = await set(2);
    expect([status, json['code'], headers.get('retry-after')]).toEqual([503, 'unavailable', '1']);
    expect(await state()).toEqual({ n: 1 });
    expect([(await set(3)).status, await state()]).toEqual([200, { n: 3 }]);
  });

  test('every operation is 503 while the database is unavailable, never an empty answer, and answers again afterwards', async () => {
    const event = await memory.say(ann, 'I live in Lisbon.');
    const [id] = event['memory_ids'] as readonly string[];
    await memory.call(ann, 'POST', '/v1/sessions/s/state', { state: { a: 1 }, ttl_seconds: 600 });
    expect(await memory.find(ann, 'Lisbon')).toEqual(['I live in Lisbon']);
    const requests: readonly (readonly [method: string, path: string, body?: object])[] = [
      ['POST', '/v1/memories', { messages, agent_id: 'tutor' }],
      ['GET', `/v1/events/${event['event_id']}`],
      ['POST', '/v1/memories/search', { query: 'Lisbon' }],
      ['POST', '/v1/memories/search', { query: 'Lisbon', mode: 'bm25' }],
      ['GET', '/v1/memories?agent_id=tutor'],
      ['GET', `/v1/memories/${id}`],
      ['PUT', `/v1/memories/${id}`, { text: 'I live in Porto' }],
      ['DELETE', `/v1/memories/${id}`],
      ['DELETE', '/v1/memories?agent_id=tutor'],
      ['GET', `/v1/memories/${id}/history`],
      ['POST', '/v1/sessions/s/state', { state: {}, ttl_seconds: 60 }],
      ['GET', '/v1/sessions/s/state'],
      ['GET', '/v1/export'],
      ['POST', '/v1/erasures', { user_id: 'ann' }],
      ['POST', '/v1/mcp', call('search_memories', { query: 'Lisbon' })],
      ['POST', '/v1/mcp', call('remember', { fact: 'x', agent_id: 'tutor' })],
      ['POST', '/v1/mcp', call('forget', { memory_id: id })],
      ['POST', '/v3/memories/', { filters: { user_id: 'ann' } }],
    ];
    await withoutDatabase(async () => {
      for (const [method, path, body] of requests) {
        const { status, json } = await memory.call(ann, method, path, body);
        expect([method, path, status, json['code']]).toEqual([method, path, 503, 'unavailable']);
      }
      const health = await memory.call({}, 'GET', '/health');
      expect(health).toMatchObject({ status: 200, json: { status: 'degraded', components: { postgres: 'degraded' } } });
    });
    await until('the database answers', async () => (await memory.call(ann, 'GET', '/v1/export')).status === 200);
    expect(await memory.find(ann, 'Lisbon')).toEqual(['I live in Lisbon']);
    expect((await memory.call(ann, 'GET', '/v1/sessions/s/state')).json['state']).toEqual({ a: 1 });
    expect(await memory.say(ann, 'I moved to Porto.')).toMatchObject({ decisions: [{ decision: 'UPDATE' }] });
  });

  test('a search by meaning is 503 while the embedder is unavailable, and a search by words is answered', async () => {
    const user = { user: 'bob' };
    await memory.say(user, 'My dog is called Rex.');
    isModelAway = true;
    try {
      for (const mode of ['hybrid', 'semantic', undefined]) {
        const body = { query: 'dog', ...(mode === undefined ? {} : { mode }) };
        const { status, json } = await memory.call(user, 'POST', '/v1/memories/search', body);
        expect([mode, status, json['code']]).toEqual([mode, 503, 'unavailable']);
      }
      expect(await memory.find(user, 'dog', { mode: 'bm25' })).toEqual(['My dog is called Rex']);
      expect(await memory.all(user)).toEqual(['My dog is called Rex']);
    } finally {
      isModelAway = false;
    }
    expect(await memory.find(user, 'dog')).toEqual(['My dog is called Rex']);
  });
});
