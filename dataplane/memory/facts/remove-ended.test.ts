import { v7 as uuid } from 'uuid';
import { expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { beginChange } from '../people/person.ts';
import { openMemory } from '../testing/open-memory.ts';
import { removeExpired } from './remove-ended.ts';

test.skipIf(missingPostgres !== undefined)(
  onPostgres('a memory that is renewed while its deletion waits is kept, and one that stays expired is deleted'),
  async () => {
    await using database = await openTestDatabase();
    const { sql } = database.database;
    {
      await using memory = await openMemory({ database });
      await memory.say({ user: 'ann' }, 'I like tea.', 'I like milk.');
    }
    const [row] = await sql<{ person: string }[]>`select person from memory.people`;
    const person = row?.person ?? '';
    await sql`update memory.memories set expires_at = clock_timestamp()`;
    const isRenewed = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const renewal = sql.begin(async (own) => {
      await beginChange(own, person);
      await own`update memory.memories set expires_at = null where text = 'I like tea'`;
      isRenewed.resolve();
      await release.promise;
    });
    await isRenewed.promise;
    const failures: unknown[] = [];
    const removal = removeExpired(
      { database: database.database, newId: uuid },
      { onFailed: (error) => failures.push(error), signal: new AbortController().signal },
    );
    await until('the deletion waits for the person', async () => {
      const waiting = await sql`
        select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return waiting.length > 0;
    });
    release.resolve();
    await Promise.all([renewal, removal]);
    expect(failures).toEqual([]);
    expect(await sql`select text from memory.memories where deleted_at is null`).toEqual([{ text: 'I like tea' }]);
    expect(await sql`select old_text from memory.history where event = 'DELETE'`).toEqual([
      { old_text: 'I like milk' },
    ]);
  },
);
