import { describe, expect, test } from 'vitest';
import type { TransactionSql } from '#sql/connect';
import { migrateDuringWrites } from '#sql/testing/migrate-during-writes';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';

const migrations = new URL('../migrations/', import.meta.url);

describe.skipIf(missingPostgres !== undefined)(onPostgres('migrations of a database that is in use'), () => {
  test('the migration drops the reference of history to memories while an earlier release writes a memory and then its history', async () => {
    await using opened = await openTestDatabase();
    const applied = await migrateDuringWrites(opened.database, 'memory', migrations, {
      from: '0012',
      first: (sql) => sql`update memory.memories set text = text`,
      second: (sql) => sql`update memory.history set new_text = new_text`,
    });
    expect(applied[0]).toBe('0012-history-of-removed.sql');
  });

  test('open events of an earlier release get the turns of their persons in the order of their adds', async () => {
    await using opened = await openTestDatabase();
    const add = (user: string, status: string) => (sql: TransactionSql) =>
      sql`
      insert into memory.events (event_id, person, infer, messages, digest, trace_id, status)
      select gen_random_uuid(), person, true, case ${status} when 'SUCCEEDED' then null else '[]'::jsonb end, 'digest', 'trace', ${status}
      from memory.people where user_key = ${user}`;
    await migrateDuringWrites(opened.database, 'memory', migrations, {
      from: '0017',
      async first(sql) {
        await sql`insert into memory.people (tenant, user_key) values ('acme', 'ann'), ('acme', 'ben')`;
        for (const status of ['SUCCEEDED', 'RUNNING', 'PENDING']) await add('ann', status)(sql);
        await add('ben', 'PENDING')(sql);
      },
      second: add('ann', 'PENDING'),
    });
    const turns = await opened.database.sql<{ user: string; tenant: string; turn: number }[]>`
      select user_key as user, e.tenant, turn::int from memory.events e join memory.people using (person)
      where status <> 'SUCCEEDED' order by user_key, seq`;
    expect(turns.map(({ user, tenant, turn }) => [user, tenant, turn])).toEqual([
      ['ann', 'acme', 0],
      ['ann', 'acme', 1],
      ['ann', 'acme', 2],
      ['ben', 'acme', 0],
    ]);
  });

  test('open events that an earlier release stored without a tenant after an upgrade get the tenant of their person', async () => {
    await using opened = await openTestDatabase();
    const add = (sql: TransactionSql) => sql`
      insert into memory.events (event_id, person, infer, messages, digest, trace_id)
      select gen_random_uuid(), person, true, '[]'::jsonb, 'digest', 'trace' from memory.people`;
    const applied = await migrateDuringWrites(opened.database, 'memory', migrations, {
      from: '0018',
      async first(sql) {
        await sql`insert into memory.people (tenant, user_key) values ('acme', 'ann'), ('other', 'ben')`;
        await add(sql);
      },
      second: add,
    });
    expect(applied).toEqual(['0018-events-without-tenant.sql']);
    await opened.database.sql.begin(add);
    const events = await opened.database.sql<{ tenant: string; count: number }[]>`
      select tenant, count(*)::int as count from memory.events group by tenant order by tenant`;
    expect(events.map(({ tenant, count }) => [tenant, count])).toEqual([
      ['acme', 3],
      ['other', 3],
    ]);
  });
});
