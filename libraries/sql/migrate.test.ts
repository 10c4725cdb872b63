import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { connectSql, SqlUnavailableError } from './connect.ts';
import { type MigrationFault, migrate } from './migrate.ts';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from './testing/test-database.ts';

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'portcullis-migrations-'));
});
afterAll(() => rmSync(root, { recursive: true }));

function folderOf(files: Readonly<Record<string, string>>): URL {
  const folder = mkdtempSync(join(root, 'files-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return pathToFileURL(folder);
}

const first = { '0001-people.sql': "create table people (name text primary key, note text not null default '');" };
const second = {
  ...first,
  '0002-split-names.sql':
    "alter table people add column given text; update people set given = split_part(name, ' ', 1); alter table people alter column given set not null;",
};

async function faultOf(promise: Promise<unknown>): Promise<MigrationFault | undefined> {
  return promise.then(
    () => undefined,
    (error: { readonly code: MigrationFault }) => error.code,
  );
}

test('migrating without a server fails with SqlUnavailableError', async () => {
  await using database = connectSql({ url: 'postgres://me@127.0.0.1:1/a', applicationName: 'test' });
  await expect(migrate(database, { schema: 'app', folder: folderOf(first) })).rejects.toBeInstanceOf(
    SqlUnavailableError,
  );
});

describe.skipIf(missingPostgres !== undefined)(onPostgres('migrations'), () => {
  async function people({ database }: TestDatabase): Promise<readonly unknown[]> {
    return [...(await database.sql`select * from app.people order by name`)];
  }

  test('each migration is applied once and keeps existing data', async () => {
    await using opened = await openTestDatabase();
    const { database } = opened;
    expect(await migrate(database, { schema: 'app', folder: folderOf(first) })).toEqual(['0001-people.sql']);
    await database.sql`insert into app.people (name) values ('Ada Lovelace'), ('Alan Turing')`;
    expect(await migrate(database, { schema: 'app', folder: folderOf(second) })).toEqual(['0002-split-names.sql']);
    expect(await migrate(database, { schema: 'app', folder: folderOf(second) })).toEqual([]);
    expect(await people(opened)).toEqual([
      { name: 'Ada Lovelace', note: '', given: 'Ada' },
      { name: 'Alan Turing', note: '', given: 'Alan' },
    ]);
  });

  test('two schemas of one database migrate independently', async () => {
    await using opened = await openTestDatabase();
    expect(await migrate(opened.database, { schema: 'app', folder: folderOf(first) })).toHaveLength(1);
    expect(await migrate(opened.database, { schema: 'other', folder: folderOf(second) })).toHaveLength(2);
  });

  test('replicas that start concurrently apply each migration exactly once', async () => {
    await using opened = await openTestDatabase();
    const slow = { ...second, '0003-slow.sql': 'select pg_sleep(0.3); create table slow (n int);' };
    const folder = folderOf(slow);
    const replicas = Array.from({ length: 6 }, () => opened.connect());
    const applied = await Promise.all(replicas.map((replica) => migrate(replica, { schema: 'app', folder })));
    expect(applied.flat().sort()).toEqual(Object.keys(slow));
    await Promise.all(replicas.map((replica) => replica[Symbol.asyncDispose]()));
  });

  test('a failed migration is rolled back and retried at the next start', async () => {
    await using opened = await openTestDatabase();
    const { database } = opened;
    const broken = { ...first, '0002-broken.sql': "insert into people values ('Ada'); select 1 / 0;" };
    const failing = migrate(database, { schema: 'app', folder: folderOf(broken) });
    await expect(failing).rejects.toThrow('0002-broken.sql failed on schema app (22012) and was rolled back');
    expect(await people(opened)).toEqual([]);
    const corrected = { ...first, '0002-broken.sql': "insert into people values ('Ada');" };
    expect(await migrate(database, { schema: 'app', folder: folderOf(corrected) })).toEqual(['0002-broken.sql']);
  });

  test('a migration whose replica is killed is rolled back', async () => {
    await using opened = await openTestDatabase();
    const folder = folderOf({ '0001-slow.sql': 'create table t (n int); select pg_sleep(20);' });
    await using dying = opened.connect({ applicationName: 'dying' });
    const died = faultOf(migrate(dying, { schema: 'app', folder }));
    await until('the migrating session was terminated', async () => {
      const rows = await opened.database
        .sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'dying' and query like '%pg_sleep%'`;
      return rows.length === 1;
    });
    expect(await died).toBe('sql_unavailable');
    const [found] = await opened.database.sql`select to_regclass('app.t') as t`;
    expect(found?.['t']).toBe(null);
  });

  test.each<[string, MigrationFault, Readonly<Record<string, string>>]>([
    ['an applied file that changed', 'changed', { '0001-people.sql': 'create table people (other text);' }],
    ['a database that is newer than the program', 'newer', {}],
    ['a gap in the numbers', 'gap', { ...first, '0003-late.sql': 'select 1;' }],
    ['a number twice', 'gap', { ...first, '0001-zebra.sql': 'select 1;' }],
    ['a name without a number', 'bad_name', { ...first, 'later.sql': 'select 1;' }],
  ])('a migration with %s is refused', async (_what, code, files) => {
    await using opened = await openTestDatabase();
    const { database } = opened;
    await migrate(database, { schema: 'app', folder: folderOf(first) });
    expect(await faultOf(migrate(database, { schema: 'app', folder: folderOf(files) }))).toBe(code);
    expect(await people(opened)).toEqual([]);
  });

  test('a schema name that contains SQL is refused', async () => {
    await using opened = await openTestDatabase();
    const schema = 'app"; drop schema public; --';
    expect(await faultOf(migrate(opened.database, { schema, folder: folderOf(first) }))).toBe('bad_name');
  });
});
