import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { type OpenedMemory, openMemory } from '../testing/open-memory.ts';
import { mostRemoved } from './remove-memories.ts';

const count = mostRemoved.memories + 1;

/** Writes memories with two entries of history each. */
async function remember(memory: OpenedMemory, user: string): Promise<void> {
  await memory.say({ user }, 'I live in Rome.');
  await memory.database.database.sql`
    with written as (
      insert into memory.memories (memory_id, person, agent_id, text, hash, sameness, role, tokens, terms, change_no)
      select gen_random_uuid(), person, 'tutor', 'fact', 'h', 'fact', 'user', 1, 'fact', 1
      from memory.people, generate_series(1, ${count - 1}::int) where user_key like ${`%"${user}"]`}
      returning memory_id, person)
    insert into memory.history (entry_id, memory_id, person, event, new_text)
    select gen_random_uuid(), memory_id, person, 'ADD', 'fact' from written, generate_series(1, 2)`;
}

describe.skipIf(missingPostgres !== undefined)(onPostgres('the removal of many memories'), () => {
  let memory: OpenedMemory;
  beforeAll(async () => {
    memory = await openMemory();
    const { sql } = memory.database.database;
    await sql`create table public.removals (rows integer not null, transaction xid8 not null default pg_current_xact_id())`;
    await sql`
      create function public.note_removal() returns trigger language plpgsql as $$
      begin
        insert into public.removals select count(*) from removed;
        return null;
      end $$`;
    await sql`
      create trigger noted after delete on memory.memories
      referencing old table as removed for each statement execute function public.note_removal()`;
  });
  afterAll(() => memory[Symbol.asyncDispose]());

  async function fill(user: string): Promise<void> {
    await remember(memory, user);
    await memory.database.database.sql`delete from public.removals`;
  }

  const removals = (): Promise<{ rows: number; transactions: number }[]> => memory.database.database.sql`
    select rows, (select count(distinct transaction)::int from public.removals where rows > 0) as transactions
    from public.removals where rows > 0 order by rows desc`;
  const left = async () => {
    const [row] = await memory.database.database.sql`
      select (select count(*)::int from memory.memories) as memories, (select count(*)::int from memory.history) as history`;
    return row;
  };
  const erase = (user: string) => memory.call({ user }, 'POST', '/v1/erasures', { user_id: user });

  test.each([
    ['the deletion of a scope', 'DELETE', '/v1/memories?agent_id=tutor', undefined, { deleted_count: count }],
    ['an erasure', 'POST', '/v1/erasures', { user_id: 'many' }, { memories: count, history_entries: 2 * count - 1 }],
  ])('%s removes all memories in transactions of limited size', async (_, method, path, body, counts) => {
    const user = { user: 'many' };
    await fill(user.user);
    expect(await memory.call(user, method, path, body)).toMatchObject({ status: 200, json: counts });
    expect(await removals()).toEqual([
      { rows: mostRemoved.memories, transactions: 2 },
      { rows: 1, transactions: 2 },
    ]);
    expect(await left()).toEqual({ memories: 0, history: 0 });
    const { sql } = memory.database.database;
    const [record] = await sql`
      select deleted_count as deleted from memory.deletions where deleted_count > 0
      union all select memories from memory.erasures where memories > 0`;
    expect(record).toEqual({ deleted: count });
  });

  test('an erasure that fails between two transactions is continued by the next request', async () => {
    await fill('half');
    const { sql } = memory.database.database;
    await sql`
      create function public.refuse_last() returns trigger language plpgsql as $$
      begin
        if (select count(*) from removed) = 1 then raise exception 'no'; end if;
        return null;
      end $$`;
    await sql`
      create trigger refused after delete on memory.memories
      referencing old table as removed for each statement execute function public.refuse_last()`;
    expect((await erase('half')).status).toBe(500);
    expect(await left()).toMatchObject({ memories: 1 });
    expect(await memory.all({ user: 'half' })).toHaveLength(1);
    expect(await memory.find({ user: 'half' }, 'fact Rome')).toHaveLength(1);
    await sql`drop trigger refused on memory.memories`;
    expect(await erase('half')).toMatchObject({ status: 200, json: { memories: 1, events: 0 } });
    expect(await left()).toEqual({ memories: 0, history: 0 });
  });

  test('an erasure removes a memory with more history than one transaction removes, even with old statistics', async () => {
    const { sql } = memory.database.database;
    // Updates the statistics of the table, which earlier tests have emptied: one row in many pages.
    await sql`vacuum (analyze, truncate off) memory.history`;
    await memory.say({ user: 'often' }, 'I live in Rome.');
    await sql`
      insert into memory.history (entry_id, memory_id, person, event, new_text)
      select gen_random_uuid(), memory_id, person, 'UPDATE', 'fact'
      from memory.memories, generate_series(1, ${mostRemoved.history}::int)`;
    const history_entries = mostRemoved.history + 1;
    expect(await erase('often')).toMatchObject({ status: 200, json: { memories: 1, history_entries } });
    expect(await left()).toEqual({ memories: 0, history: 0 });
  });

  test('a removal searches the history a few times, and not once for each memory', async () => {
    await using own = await openMemory();
    await remember(own, 'scanned');
    const history = async () => {
      const [row] = await own.database.database.sql<{ scans: string; deleted: string }[]>`
        select seq_scan + idx_scan as scans, n_tup_del as deleted from pg_stat_user_tables
        where schemaname = 'memory' and relname = 'history'`;
      return { scans: Number(row?.scans), deleted: Number(row?.deleted) };
    };
    const erased = await own.call({ user: 'scanned' }, 'POST', '/v1/erasures', { user_id: 'scanned' });
    const history_entries = 2 * count - 1;
    expect(erased).toMatchObject({ status: 200, json: { memories: count, history_entries } });
    // Connections report their statistics some time after the transaction.
    const after = await until('the statistics have the removal', async () => {
      const read = await history();
      return read.deleted === history_entries ? read : undefined;
    });
    expect(after.scans).toBeLessThan(100);
  });

  // The other memories are deleted, because live memories are packed again after the deletion.
  test.each([
    ['agent_id=tutor', { agent_id: 'tutor' }],
    ['run_id=today', { run_id: 'today' }],
    ['agent_id=tutor&run_id=today', { agent_id: 'tutor', run_id: 'today' }],
  ])('a deletion of %s reads no deleted memory of another agent or run', async (query, scope) => {
    await using own = await openMemory();
    const { sql } = own.database.database;
    const user = { user: 'scoped' };
    const body = { messages: [{ role: 'user', content: 'kept' }], infer: false };
    const added = await own.call(user, 'POST', '/v1/memories', { ...body, ...scope });
    await until('the memory is stored', async () => (await own.all(user)).length === 1);
    expect(added.status).toBe(202);
    await sql`
      insert into memory.memories (memory_id, person, agent_id, run_id, text, hash, sameness, role, tokens, terms, change_no,
        deleted_at)
      select gen_random_uuid(), person, 'other', 'yesterday', 'fact', 'h', 'fact', 'user', 1, 'fact', 1,
        clock_timestamp()
      from memory.people, generate_series(1, 3000)`;
    await sql`analyze memory.memories`;
    const rows = async () => {
      const [row] = await sql<{ read: string; deleted: string }[]>`
        select seq_tup_read + idx_tup_fetch as read, n_tup_del as deleted from pg_stat_user_tables
        where schemaname = 'memory' and relname = 'memories'`;
      return { read: Number(row?.read), deleted: Number(row?.deleted) };
    };
    const before = await until('the statistics have every insert', async () => {
      const [row] = await sql<{ inserted: string }[]>`
        select n_tup_ins as inserted from pg_stat_user_tables where schemaname = 'memory' and relname = 'memories'`;
      return Number(row?.inserted) === 3_001 ? rows() : undefined;
    });
    const deleted = await own.call(user, 'DELETE', `/v1/memories?${query}`);
    expect(deleted).toMatchObject({ status: 200, json: { deleted_count: 1 } });
    const after = await until('the statistics have the removal', async () => {
      const read = await rows();
      return read.deleted === 1 ? read : undefined;
    });
    expect(after.read - before.read).toBeLessThan(1_000);
  });

  test('a deletion of a scope reads the open events of the person, and only those ended events that have texts', async () => {
    await using own = await openMemory({ config: { role: 'api' } });
    const { sql } = own.database.database;
    const user = { user: 'busy' };
    const body = { messages: [{ role: 'user', content: 'open' }], agent_id: 'tutor' };
    expect((await own.call(user, 'POST', '/v1/memories', body)).status).toBe(202);
    await sql`
      insert into memory.events (person, tenant, event_id, agent_id, infer, digest, status, trace_id, metadata)
      select person, tenant, gen_random_uuid(), 'tutor', true, '', 'SUCCEEDED', '',
        case when at = 1 then '{"text": "left"}'::jsonb else '{}' end
      from memory.people, generate_series(1, 3000) as at`;
    await sql`analyze memory.events`;
    const rows = async () => {
      const [row] = await sql<{ read: string; inserted: string; updated: string }[]>`
        select seq_tup_read + idx_tup_fetch as read, n_tup_ins as inserted, n_tup_upd as updated
        from pg_stat_user_tables where schemaname = 'memory' and relname = 'events'`;
      return { read: Number(row?.read), inserted: Number(row?.inserted), updated: Number(row?.updated) };
    };
    const before = await until('the statistics have every insert', async () => {
      const read = await rows();
      return read.inserted === 3_001 ? read : undefined;
    });
    const deleted = await own.call(user, 'DELETE', '/v1/memories?agent_id=tutor');
    expect(deleted).toMatchObject({ status: 200 });
    const after = await until('the statistics have the removal', async () => {
      const read = await rows();
      return read.updated === before.updated + 2 ? read : undefined;
    });
    expect(after.read - before.read).toBeLessThan(1_000);
    const [left] = await sql`
      select count(*) filter (where metadata <> '{}')::int as texts, count(messages)::int as messages from memory.events`;
    expect(left).toEqual({ texts: 0, messages: 0 });
  });

  test('the events and the records of one person are found by an index', async () => {
    const { sql } = memory.database.database;
    for (const statement of [
      'select from memory.events where person = 1 order by seq limit 10',
      'delete from memory.events where person = 1',
      'delete from memory.deletions where person = 1',
    ]) {
      const plan = await sql.begin(async (transaction) => {
        await transaction`set local enable_seqscan = off`;
        return transaction.unsafe<{ 'QUERY PLAN': string }[]>(`explain ${statement}`);
      });
      expect(plan.map((row) => row['QUERY PLAN']).join('\n'), statement).not.toContain('Seq Scan');
    }
  });
});
