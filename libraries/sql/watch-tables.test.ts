import { globSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { migrate } from './migrate.ts';
import { tablesOf } from './migrated-tables.ts';
import { missingPostgres, onPostgres, openTestDatabase } from './testing/test-database.ts';
import { watchTables } from './watch-tables.ts';

const root = new URL('../../', import.meta.url).pathname;
const folders = globSync('{libraries,dataplane,operator}/**/migrations/0001-*.sql', { cwd: root }).map(dirname);

describe.skipIf(missingPostgres !== undefined)(onPostgres('tables of a database'), () => {
  test.each(folders)('the migrations of %s create exactly the expected tables', async (path) => {
    await using opened = await openTestDatabase();
    const folder = pathToFileURL(`${join(root, path)}/`);
    await migrate(opened.database, { schema: 'tried', folder });
    const rows = await opened.database.sql<{ name: string }[]>`
      select tablename as name from pg_tables where schemaname = 'tried' order by tablename`;
    expect(tablesOf(folder)).toEqual(rows.map(({ name }) => name).toSorted());
  });

  test('a lost table, a lost schema and their return are noticed without a probe', async () => {
    await using opened = await openTestDatabase();
    using folder = temporaryFolder();
    const migrations = join(folder.path, 'migrations');
    mkdirSync(migrations);
    writeFileSync(join(migrations, '0001-a.sql'), 'create table one (id int); create table two (id int);');
    writeFileSync(
      join(migrations, '0002-b.sql'),
      '-- create table never\ndrop table two; create table three (id int);',
    );
    const schema = { schema: 'tried', folder: pathToFileURL(`${migrations}/`) };
    await migrate(opened.database, schema);
    const changes: (readonly string[])[] = [];
    const { sql } = opened.database;
    const options = { schemas: [schema], everyMs: 20, onChange: (missing: readonly string[]) => changes.push(missing) };
    await using watched = watchTables(opened.database, options);
    await sql`drop table tried.three`;
    await until('the table is missed', () => watched.missing().join() === 'tried.three');
    await sql`create table tried.three (id int)`;
    await until('the table is back', () => watched.missing().length === 0);
    await sql`drop schema tried cascade`;
    await until('the schema is missed', () => watched.missing().includes('tried.migrations'));
    expect(changes.at(0)).toEqual(['tried.three']);
    expect(changes.at(1)).toEqual([]);
    expect(changes.at(-1)).toEqual(['tried.migrations', 'tried.one', 'tried.three']);
  });

  test('tables that were lost before the start are noticed, and a database that does not answer is no change', async () => {
    await using opened = await openTestDatabase();
    const folder = new URL('../audit/adapters/postgres/migrations/', import.meta.url);
    await migrate(opened.database, { schema: 'tried', folder });
    const { sql } = opened.database;
    await sql`drop table tried.chains cascade`;
    const other = opened.connect();
    await using watched = watchTables(other, {
      schemas: [{ schema: 'tried', folder }],
      everyMs: 20,
      onChange: () => undefined,
    });
    await until('the table is missed', () => watched.missing().length > 0);
    await other[Symbol.asyncDispose]();
    expect(watched.missing()).toEqual(['tried.chains']);
  });
});
