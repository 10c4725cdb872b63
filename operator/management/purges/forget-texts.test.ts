import { v7 as uuid } from 'uuid';
import { describe, expect, test } from 'vitest';
import { migrate } from '#sql/migrate';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { createCommandTexts } from './adapters/postgres/command-texts.ts';

const policyId = '01900000-0000-7000-8000-0000000000aa';

describe.skipIf(missingPostgres !== undefined)(onPostgres('texts of commands after a purge'), () => {
  test('the cause of a failed command loses its text if it names the revision or, as in an earlier release, no revision', async () => {
    await using opened = await openTestDatabase();
    const { database } = opened;
    await migrate(database, { schema: 'management', folder: new URL('../migrations/', import.meta.url) });
    const origin = { author: { kind: 'unknown' }, groups: [], client: 'none', before: null };
    const applied = (revision: number) => ({ ...origin, after: { policyId, revision, digest: null } });
    const rows = {
      purged: ['model', applied(1)],
      other: ['model', applied(2)],
      unnamed: ['model', { ...origin, after: null }],
      missing: ['model', origin],
      policy: ['policy', { ...origin, after: null }],
    } as const;
    for (const [cause, [type, from]] of Object.entries(rows)) {
      await database.sql`
        insert into management.operations
          (operation_id, kind, state, target_type, target_id, trace_id, accepted, origin, failure_code, failure_cause, leased_until, created_at, updated_at)
        values (${uuid()}, 'binding.apply', 'failed', ${type}, ${uuid()}, ${'0'.repeat(32)}, true,
          ${JSON.stringify(from)}, 'provider_unknown', ${cause}, now(), now(), now())`;
    }
    await createCommandTexts(database).forget(policyId, { number: 1, definitionDigest: 'a'.repeat(64) });
    const left = await database.sql<{ failure_cause: string }[]>`
      select failure_cause from management.operations where failure_cause is not null order by failure_cause`;
    expect(left.map(({ failure_cause }) => failure_cause)).toEqual(['other', 'policy']);
  });
});
