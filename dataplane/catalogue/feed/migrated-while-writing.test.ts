import { describe, expect, test } from 'vitest';
import { migrateDuringWrites } from '#sql/testing/migrate-during-writes';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';

const migrations = new URL('../migrations/', import.meta.url);

describe.skipIf(missingPostgres !== undefined)(onPostgres('the tables of forgotten agents'), () => {
  test.each(['workspaces', 'outbox'])(
    'the migration adds the tables of forgotten agents while a worker of an earlier release writes agents and then %s',
    async (table) => {
      await using opened = await openTestDatabase();
      const applied = await migrateDuringWrites(opened.database, 'catalogue', migrations, {
        from: '0007',
        first: (sql) => sql`update catalogue.agents set event_no = event_no`,
        second: (sql) => sql`delete from ${sql(`catalogue.${table}`)}`,
      });
      expect(applied[0]).toBe('0007-retention.sql');
    },
  );
});
