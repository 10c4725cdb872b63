import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { migrate } from '#sql/migrate';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { root } from '../../hack/check/run-tool.ts';

/** Schema of each folder of migrations. */
const schemas: Readonly<Record<string, string>> = {
  'dataplane/catalogue/migrations': 'catalogue',
  'dataplane/gateway/agents/budgets/migrations': 'agent_budgets',
  'dataplane/memory/migrations': 'memory',
  'dataplane/retrieval/migrations': 'retrieval',
  'libraries/audit/adapters/postgres/migrations': 'audit',
  'libraries/relations/adapters/openfga/migrations': 'openfga',
  'libraries/relations/adapters/postgres/migrations': 'relations',
  'operator/management/migrations': 'management',
};

const page = readFileSync(join(root, 'docs/install-on-kubernetes.md'), 'utf8');
const statement = /^ +--command='(drop schema [^']+)'$/m.exec(page)?.[1] ?? '';

test('the page drops every schema of a service before a dump is restored', () => {
  const found = ['dataplane', 'libraries', 'operator'].flatMap((part) =>
    globSync(`${part}/**/migrations/0001-*.sql`, { cwd: root }).map((file) => dirname(file)),
  );
  expect(found.toSorted()).toEqual(Object.keys(schemas).toSorted());
  const dropped = /^drop schema if exists ([a-z_, ]+) cascade$/.exec(statement)?.[1]?.split(', ');
  expect(dropped).toEqual(Object.values(schemas).toSorted());
});

describe.skipIf(missingPostgres !== undefined)(onPostgres('the database before a dump is restored'), () => {
  test('after the statement of the page nothing of a later release is left, and all migrations run again', async () => {
    await using opened = await openTestDatabase();
    const { database } = opened;
    const { sql } = database;
    const migrateAll = async (): Promise<void> => {
      for (const [folder, schema] of Object.entries(schemas))
        await migrate(database, { schema, folder: pathToFileURL(join(root, folder, '/')) });
    };
    const left = async () => {
      const rows = await sql<{ name: string }[]>`
        select n.nspname || '.' || c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')`;
      return rows.map(({ name }) => name);
    };
    await migrateAll();
    const complete = (await left()).toSorted();
    expect(complete.length).toBeGreaterThan(50);
    for (const schema of Object.values(schemas)) await sql.unsafe(`create table ${schema}.of_a_later_release (id int)`);
    await sql.unsafe(statement);
    expect(await left()).toEqual([]);
    await migrateAll();
    expect((await left()).toSorted()).toEqual(complete);
  });
});
