import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import type { Sql } from '#sql/connect';
import { migrate } from '#sql/migrate';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { lockPersonOf } from './person.ts';

const migrations = new URL('../migrations/', import.meta.url);

const caller = (subject: string) => ({ tenant: 'acme', user: { issuer: 'http://issuer.test', subject } });

async function addUsers(sql: Sql, tenant: string, from: number, to: number): Promise<void> {
  await sql`
    insert into memory.people (tenant, user_key) select ${tenant}, no::text from generate_series(${from}::int, ${to}::int) no
    on conflict do nothing`;
}

describe.skipIf(missingPostgres !== undefined)(onPostgres('the users of a tenant'), () => {
  test('a new user is added without reading the rows of the others, up to the quota', async () => {
    await using opened = await openTestDatabase();
    const { sql } = opened.database;
    await migrate(opened.database, { schema: 'memory', folder: migrations });
    await addUsers(sql, 'acme', 1, 2_000);
    const added = (subject: string) =>
      sql.begin(async (own) => {
        const person = await lockPersonOf(own, caller(subject), { tenantUsers: 2_001 });
        const [row] = await own<{ rows: string }[]>`
          select seq_tup_read + idx_tup_fetch as rows from pg_stat_xact_user_tables
          where schemaname = 'memory' and relname = 'people'`;
        return { isAdded: person !== undefined, read: Number(row?.rows) };
      });
    const last = await added('last');
    expect(last.isAdded).toBe(true);
    expect(last.read).toBeLessThan(10);
    const refused = await added('refused');
    expect(refused.isAdded).toBe(false);
    expect(refused.read).toBeLessThan(10);
    expect((await added('last')).isAdded).toBe(true);
  });

  test('existing, new, repeated and removed users are counted correctly', async () => {
    await using opened = await openTestDatabase();
    const { sql } = opened.database;
    using before = temporaryFolder();
    const folder = fileURLToPath(migrations);
    for (const name of readdirSync(folder)) {
      if (name < '0013') cpSync(join(folder, name), join(before.path, name));
    }
    await migrate(opened.database, { schema: 'memory', folder: pathToFileURL(before.path) });
    await addUsers(sql, 'acme', 1, 3);
    await migrate(opened.database, { schema: 'memory', folder: migrations });
    const counted = () => sql`select tenant, users::int from memory.tenants order by tenant`;
    expect(await counted()).toEqual([{ tenant: 'acme', users: 3 }]);
    await addUsers(sql, 'acme', 2, 5);
    await addUsers(sql, 'other', 1, 2);
    await sql`delete from memory.people where user_key = '1'`;
    expect(await counted()).toEqual([
      { tenant: 'acme', users: 4 },
      { tenant: 'other', users: 1 },
    ]);
  });

  test('users who are added and removed at the same time are all counted', async () => {
    await using opened = await openTestDatabase();
    const { sql } = opened.database;
    await migrate(opened.database, { schema: 'memory', folder: migrations });
    const names = Array.from({ length: 20 }, (_, no) => `user-${no}`);
    await Promise.all(names.map((name) => sql.begin((own) => lockPersonOf(own, caller(name), { tenantUsers: 100 }))));
    const even = (await sql<{ person: string }[]>`select person from memory.people where person % 2 = 0`).map(
      ({ person }) => person,
    );
    await Promise.all([
      ...even.map((person) => sql`delete from memory.people where person = ${person}`),
      ...names.map((name) => sql.begin((own) => lockPersonOf(own, caller(`${name}b`), { tenantUsers: 100 }))),
    ]);
    const [row] = await sql`
      select users::int, (select count(*)::int from memory.people) as people from memory.tenants`;
    expect(row).toEqual({ users: 40 - even.length, people: 40 - even.length });
  });
});
