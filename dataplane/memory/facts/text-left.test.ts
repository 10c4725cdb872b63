import { describe, expect, test } from 'vitest';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import { openMemory } from '../testing/open-memory.ts';

const zoe = { user: 'zoe' };
const marked = (content: string, agent: string) => ({
  messages: [{ role: 'user', content }],
  agent_id: agent,
  metadata: { note: 'xylophone', depth: { list: ['xylophone'] } },
  categories: ['xylophone'],
});

/** Tables of the service with the word of the test in any column. */
async function tablesWithText({ database: { sql } }: TestDatabase): Promise<readonly string[]> {
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.tables where table_schema = 'memory' order by 1`;
  const found: string[] = [];
  for (const { name } of tables) {
    const [row] = await sql.unsafe(`select 1 from memory."${name}" t where t::text ilike '%xylophone%' limit 1`);
    if (row !== undefined) found.push(name);
  }
  return found;
}

describe.skipIf(missingPostgres !== undefined)(onPostgres('text after a deletion'), () => {
  /** Memories of two agents, a failed add, a state of a session, and two open adds that no worker processes. */
  async function fill(database: TestDatabase) {
    {
      await using worker = await openMemory({ database });
      await worker.add(zoe, marked('I play the xylophone.', 'a'));
      await worker.add(zoe, marked('I own a xylophone.', 'b'));
      const tooLong = { ...marked('xylophone '.repeat(900), 'a'), infer: false };
      expect(await worker.add(zoe, tooLong)).toMatchObject({ status: 'FAILED' });
      expect(await tablesWithText(database)).toEqual(['history', 'memories']);
    }
    const memory = await openMemory({ database, config: { role: 'api' } });
    for (const agent of ['a', 'b']) {
      expect((await memory.call(zoe, 'POST', '/v1/memories', marked('My xylophone is red.', agent))).status).toBe(202);
    }
    return memory;
  }

  test('an event that has ended, and one that was cancelled by a deletion of its scope, contains no text, metadata or categories', async () => {
    await using database = await openTestDatabase();
    await using memory = await fill(database);
    expect((await memory.call(zoe, 'DELETE', '/v1/memories?agent_id=a')).json).toMatchObject({
      ...{ deleted_count: 1, cancelled_events: 1 },
    });
    const left = await database.database.sql<{ agent_id: string }[]>`
      select agent_id from memory.events t where t::text ilike '%xylophone%'`;
    expect(left.map(({ agent_id }) => agent_id)).toEqual(['b']);
    expect((await memory.call(zoe, 'DELETE', '/v1/memories?agent_id=b')).status).toBe(200);
    expect(await tablesWithText(database)).toEqual([]);
  });

  test('a deletion of a scope removes the texts that an earlier version left in ended events', async () => {
    await using database = await openTestDatabase();
    await using memory = await fill(database);
    await database.database.sql`
      update memory.events set metadata = '{"note": "xylophone"}', categories = '{xylophone}' where status <> 'PENDING'`;
    await memory.call(zoe, 'DELETE', '/v1/memories?user_id=zoe');
    expect(await tablesWithText(database)).toEqual([]);
  });

  test('an erasure leaves no text of the user in any table', async () => {
    await using database = await openTestDatabase();
    await using memory = await fill(database);
    await memory.call(zoe, 'POST', '/v1/sessions/s/state', { state: { play: 'xylophone' }, ttl_seconds: 600 });
    expect(await tablesWithText(database)).toEqual(['events', 'history', 'memories', 'sessions']);
    expect((await memory.call(zoe, 'POST', '/v1/erasures', { user_id: 'zoe' })).status).toBe(200);
    expect(await tablesWithText(database)).toEqual([]);
  });
});
