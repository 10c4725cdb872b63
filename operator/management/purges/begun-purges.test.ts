import { v7 as uuid } from 'uuid';
import { describe, expect, test } from 'vitest';
import { openPostgresAudit } from '#audit/adapters/postgres/postgres-audit';
import { changeEntry } from '#audit/change-entry';
import { migrate } from '#sql/migrate';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { createBegunPurges } from './begun-purges.ts';

describe.skipIf(missingPostgres !== undefined)(onPostgres('purges without an entry'), () => {
  test('any number of purge records of newer releases hides no other record, and three are read at a time', async () => {
    await using opened = await openTestDatabase();
    const { database } = opened;
    const { sql } = database;
    await migrate(database, { schema: 'management', folder: new URL('../migrations/', import.meta.url) });
    const audit = await openPostgresAudit(database, 'management');
    const told: string[] = [];
    const begun = createBegunPurges(database, audit, (purge) => told.push(purge));
    const newer = Array.from({ length: 201 }, (_, at) => ({
      ...{ purge_id: uuid(), revision: 'newer', purge_time: 'newer' },
      entry: at % 2 === 0 ? 'no JSON' : '{"outcome": "of a newer release"}',
    }));
    await sql`insert into management.purges ${sql(newer)}`;
    const author = { author: { kind: 'unknown' }, client: 'none', traceId: '0'.repeat(32) } as const;
    const entry = changeEntry(
      { action: 'revision.purge', target: { type: 'revision', id: 'own' } },
      author,
      new Date(),
    );
    const own = [];
    for (const name of ['1', '2', '3', '4']) own.push(await begun.begin(name, entry));
    expect(await begun.left()).toEqual([]);
    await sql`update management.purges set created_at = clock_timestamp() - interval '31 seconds'`;
    const first = await begun.left();
    expect(first).toEqual(own.slice(0, 3));
    await sql.begin((transaction) => begun.end(transaction, first));
    expect(await begun.left()).toEqual(own.slice(3));
    expect(told).toEqual(newer.map(({ purge_id }) => purge_id));
  });
});
