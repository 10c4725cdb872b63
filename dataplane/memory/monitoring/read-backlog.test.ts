import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { type OpenedMemory, openMemory } from '../testing/open-memory.ts';
import { mostCounted, readEventBacklog } from './read-backlog.ts';

describe.skipIf(missingPostgres !== undefined)(onPostgres('the backlog that a scrape reads'), () => {
  let memory: OpenedMemory;
  const insert = (count: number, vector: Buffer | null, minutes = 61) => memory.database.database.sql`
    insert into memory.memories (memory_id, person, text, hash, sameness, role, tokens, terms, change_no, vector,
      profile_id, embed_failures, updated_at)
    select gen_random_uuid(), (select min(person) from memory.people), 'text', '', '', 'user', 1, '', 1,
      ${vector}::bytea, ${vector === null ? null : 'words'}, ${vector === null ? 1 : 0}::int,
      clock_timestamp() - ${minutes}::int * interval '1 minute'
    from generate_series(1, ${count}::int)`;
  const counted = async (hasProfile: boolean) => {
    const { unembedded, delayed } = await readEventBacklog(memory.database.database, hasProfile);
    return [unembedded, delayed];
  };

  beforeAll(async () => {
    memory = await openMemory({ config: { role: 'api' } });
    const body = { messages: [{ role: 'user', content: 'kept' }], agent_id: 'tutor' };
    await memory.call({ user: 'ann' }, 'POST', '/v1/memories', body);
  });
  afterAll(() => memory?.[Symbol.asyncDispose]());

  test('memories without a vector are counted up to the bound, and no memories are counted without a profile', async () => {
    await insert(200, Buffer.alloc(256));
    await insert(3, null);
    expect(await counted(true)).toEqual([3, 3]);
    expect(await counted(false)).toEqual([0, 0]);
    await insert(mostCounted - 4, null);
    expect(await counted(true)).toEqual([mostCounted - 1, mostCounted - 1]);
    await insert(2, null);
    expect(await counted(true)).toEqual([mostCounted, mostCounted]);
  });

  test('a memory counts as a memory without a vector when it has waited for an hour, and not before', async () => {
    await memory.database.database.sql`delete from memory.memories where vector is null`;
    await insert(4, null, 59);
    expect(await counted(true)).toEqual([0, 4]);
    await insert(2, null, 60);
    expect(await counted(true)).toEqual([2, 6]);
  });

  test('a scrape reads no memory with a vector, although the statistics expect many without one', async () => {
    const { sql } = memory.database.database;
    await sql`analyze memory.memories`;
    await sql`delete from memory.memories where vector is null`;
    await insert(2_000, Buffer.alloc(256));
    const plan = await sql<{ 'QUERY PLAN': string }[]>`
      explain select from memory.memories where deleted_at is null and vector is null order by memory_id limit 10000`;
    const text = plan.map((row) => row['QUERY PLAN']).join('\n');
    expect(text).toContain('memories_without_vector');
    expect(text).not.toContain('Seq Scan');
    expect(await counted(true)).toEqual([0, 0]);
  });
});
