import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { type OpenedMemory, openMemory } from '../testing/open-memory.ts';
import { memoriesOfStatement } from './remove-memories.ts';

const count = memoriesOfStatement + 1;

describe.skipIf(missingPostgres !== undefined)(onPostgres('the removal of many memories'), () => {
  let memory: OpenedMemory;
  beforeAll(async () => {
    memory = await openMemory();
    const { sql } = memory.database.database;
    await sql`create table public.removals (rows integer not null)`;
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

  /** Writes memories with two entries of history each. */
  async function fill(user: string): Promise<void> {
    await memory.say({ user }, 'I live in Rome.');
    const { sql } = memory.database.database;
    await sql`
      with written as (
        insert into memory.memories (memory_id, person, agent_id, text, hash, sameness, role, tokens, terms, change_no)
        select gen_random_uuid(), person, 'tutor', 'fact', 'h', 'fact', 'user', 1, 'fact', 1
        from memory.people, generate_series(1, ${count - 1}::int) where user_key like ${`%"${user}"]`}
        returning memory_id, person)
      insert into memory.history (entry_id, memory_id, person, event, new_text)
      select gen_random_uuid(), memory_id, person, 'ADD', 'fact' from written, generate_series(1, 2)`;
    await sql`delete from public.removals`;
  }

  test.each([
    ['the deletion of a scope', 'DELETE', '/v1/memories?agent_id=tutor', undefined, { deleted_count: count }],
    ['an erasure', 'POST', '/v1/erasures', { user_id: 'many' }, { memories: count, history_entries: 2 * count - 1 }],
  ])('%s removes all of them with statements of a bounded size', async (_, method, path, body, counts) => {
    const user = { user: 'many' };
    await fill(user.user);
    expect(await memory.call(user, method, path, body)).toMatchObject({ status: 200, json: counts });
    const { sql } = memory.database.database;
    const removals = await sql<{ rows: number }[]>`select rows from public.removals where rows > 0 order by rows desc`;
    expect(removals.map(({ rows }) => rows)).toEqual([memoriesOfStatement, 1]);
    const [left] = await sql`
      select (select count(*)::int from memory.memories) as memories, (select count(*)::int from memory.history) as history`;
    expect(left).toEqual({ memories: 0, history: 0 });
  });
});
