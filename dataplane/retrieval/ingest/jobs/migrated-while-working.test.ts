import { describe, expect, test } from 'vitest';
import { migrateDuringWrites } from '#sql/testing/migrate-during-writes';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';

const migrations = new URL('../../migrations/', import.meta.url);

describe.skipIf(missingPostgres !== undefined)(onPostgres('migrations of a database that is in use'), () => {
  test('the migration builds the indexes of lists while a worker of an earlier release writes a job and then its document', async () => {
    await using opened = await openTestDatabase();
    const applied = await migrateDuringWrites(opened.database, 'retrieval', migrations, {
      from: '0014',
      first: (sql) => sql`update retrieval.jobs set updated_at = now()`,
      second: (sql) => sql`update retrieval.documents set live_seq = last_seq`,
    });
    expect(applied.slice(0, 2)).toEqual(['0014-listed-documents.sql', '0015-listed-jobs.sql']);
  });

  test('the migration replaces an index of open jobs while a submit of an earlier release reads jobs and then writes one', async () => {
    await using opened = await openTestDatabase();
    const applied = await migrateDuringWrites(opened.database, 'retrieval', migrations, {
      from: '0018',
      first: (sql) => sql`select from retrieval.jobs`,
      second: (sql) => sql`update retrieval.jobs set updated_at = now()`,
    });
    expect(applied.slice(0, 2)).toEqual(['0018-fair-claims.sql', '0019-jobs-by-due-time.sql']);
  });
});
