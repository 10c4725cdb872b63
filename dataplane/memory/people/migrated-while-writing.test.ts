import { describe, expect, test } from 'vitest';
import { migrateDuringWrites } from '#sql/testing/migrate-during-writes';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';

const migrations = new URL('../migrations/', import.meta.url);

describe.skipIf(missingPostgres !== undefined)(onPostgres('the reference of history to memories'), () => {
  test('the migration drops the reference of history to memories while an earlier release writes a memory and then its history', async () => {
    await using opened = await openTestDatabase();
    const applied = await migrateDuringWrites(opened.database, 'memory', migrations, {
      from: '0012',
      first: (sql) => sql`update memory.memories set text = text`,
      second: (sql) => sql`update memory.history set new_text = new_text`,
    });
    expect(applied[0]).toBe('0012-history-of-removed.sql');
  });
});
