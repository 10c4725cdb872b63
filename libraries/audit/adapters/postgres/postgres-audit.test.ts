import { describe, expect, test } from 'vitest';
import type { AuditEntry } from '#contracts/audit';
import { createAuditVerifier } from '#contracts/verify-audit';
import { until } from '#kit/testing/until';
import { connectSql, passwordFrom, SqlUnavailableError } from '#sql/connect';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { watchTables } from '#sql/watch-tables';
import type { AuditLog } from '../../ports.ts';
import { auditContent } from '../../testing/audit-content.ts';
import { openPostgresAudit, watchedAudit } from './postgres-audit.ts';

const start = Date.parse('2026-01-01T00:00:00.000Z');

async function allEntries(log: AuditLog, order: 'newest' | 'oldest' = 'oldest'): Promise<readonly AuditEntry[]> {
  const found: AuditEntry[] = [];
  let after: string | undefined;
  for (;;) {
    const page = await log.read({ filter: {}, order, limit: 7, after });
    found.push(...page.entries);
    if (page.next === null) return found;
    after = page.next;
  }
}

async function breaksOf(log: AuditLog, change: (entries: AuditEntry[]) => readonly AuditEntry[] = (all) => all) {
  const verifier = createAuditVerifier(await log.chains());
  for (const entry of change([...(await allEntries(log))])) verifier.add(entry);
  return verifier.end();
}

describe.skipIf(missingPostgres !== undefined)(onPostgres('the audit log in PostgreSQL'), () => {
  test('entries that two replicas add at the same time are one chain without a gap', async () => {
    await using database = await openTestDatabase();
    await using second = connectSql({
      url: database.url,
      applicationName: 'second',
      password: passwordFrom(database.passwordFile),
    });
    const logs = [await openPostgresAudit(database.database, 'one'), await openPostgresAudit(second, 'one')] as const;
    await Promise.all(
      Array.from({ length: 40 }, (_, at) =>
        logs[at % 2 === 0 ? 0 : 1].write([auditContent(2 * at), auditContent(2 * at + 1)]),
      ),
    );
    const entries = await allEntries(logs[0]);
    expect(entries.map(({ number }) => number)).toEqual(Array.from({ length: 80 }, (_, at) => at + 1));
    expect(new Set(entries.map((entry) => entry.content.target?.id)).size).toBe(80);
    expect(await breaksOf(logs[1])).toEqual([]);
    expect((await allEntries(logs[0], 'newest')).map(({ number }) => number)).toEqual(
      Array.from({ length: 80 }, (_, at) => 80 - at),
    );
  });

  test('an entry of a transaction that is rolled back leaves no gap in the chain', async () => {
    await using database = await openTestDatabase();
    const { sql } = database.database;
    const log = await openPostgresAudit(database.database, 'one');
    await log.write([auditContent(1)]);
    const failed = sql.begin(async (own) => {
      await log.append(own, [auditContent(2)]);
      throw new RangeError('a rule refused it');
    });
    await expect(failed).rejects.toThrow(RangeError);
    await log.write([auditContent(3)]);
    expect((await allEntries(log)).map((entry) => entry.content.target?.id)).toEqual(['policy-1', 'policy-3']);
    expect(await breaksOf(log)).toEqual([]);
  });

  test('a lost or disabled trigger and a lost row of the chain are detected, and nothing is added without the row', async () => {
    await using database = await openTestDatabase();
    const { sql } = database.database;
    const log = await openPostgresAudit(database.database, 'one');
    const schemas = [watchedAudit('one')];
    await using watched = watchTables(database.database, { schemas, everyMs: 20, onChange: () => undefined });
    await sql`alter table audit.entries disable trigger entries_append_only`;
    await until('the trigger is missed', () => watched.missing().join() === 'audit.entries.entries_append_only');
    await sql`drop trigger entries_not_truncated on audit.entries`;
    await until('both are missed', () => watched.missing().length === 2);
    await sql`delete from audit.chains where chain = 'one'`;
    await until('the row is missed', () => watched.missing()[0] === 'audit.chains.one');
    await expect(log.write([auditContent(1)])).rejects.toThrow(SqlUnavailableError);
    await openPostgresAudit(database.database, 'one');
    await sql`alter table audit.entries enable trigger entries_append_only`;
    await until('the rest is missed', () => watched.missing().join() === 'audit.entries.entries_not_truncated');
  });

  test('the database refuses to change, remove or truncate entries', async () => {
    await using database = await openTestDatabase();
    const { sql } = database.database;
    const log = await openPostgresAudit(database.database, 'one');
    await log.write([auditContent(1), auditContent(2)]);
    for (const statement of [
      `update audit.entries set content = replace(content, 'accepted', 'refused')`,
      'delete from audit.entries',
      'truncate audit.entries',
    ]) {
      await expect(sql.unsafe(statement), statement).rejects.toMatchObject({ sqlState: '42501' });
    }
    expect(await allEntries(log)).toHaveLength(2);
  });

  test('a verification names the first entry that was changed, removed, exchanged or truncated', async () => {
    await using database = await openTestDatabase();
    const log = await openPostgresAudit(database.database, 'one');
    await log.write(Array.from({ length: 9 }, (_, at) => auditContent(at + 1)));
    const changed = (entry: AuditEntry) => ({ ...entry, content: { ...entry.content, client: 'public' as const } });
    for (const [tamper, number, problem] of [
      [(all: AuditEntry[]) => all.map((one) => (one.number >= 4 ? changed(one) : one)), 4, /content was changed/],
      [(all: AuditEntry[]) => all.filter((one) => one.number !== 5), 5, /missing/],
      [(all: AuditEntry[]) => all.slice(0, 7), 8, /missing/],
      [(all: AuditEntry[]) => all.slice(1), 1, /missing/],
      [(all: AuditEntry[]) => [...all.slice(0, 3), ...all.slice(2)], 3, /occurs twice/],
    ] as const) {
      const breaks = await breaksOf(log, tamper);
      expect(breaks).toEqual([{ chain: 'one', number, problem: expect.stringMatching(problem) }]);
    }
    expect(await breaksOf(log)).toEqual([]);
  });

  test('retention removes audit entries before its time, keeps the newest one, and the rest can still be proved', async () => {
    await using database = await openTestDatabase();
    const log = await openPostgresAudit(database.database, 'one');
    await log.write(Array.from({ length: 1_203 }, (_, at) => auditContent(at + 1)));
    const now = new Date(start + 5_000);
    expect(await log.retain(new Date(start + 1_101), now)).toBe(1_100);
    const kept = await allEntries(log);
    expect(kept[0]?.content.target?.id).toBe('policy-1101');
    expect(kept.filter((one) => one.content.action === 'audit.retain').map((one) => one.content.count)).toEqual([
      500, 500, 100,
    ]);
    expect(await breaksOf(log)).toEqual([]);
    const unrecorded = await breaksOf(log, (all) => all.filter((one) => one.content.action !== 'audit.retain'));
    expect(unrecorded).toHaveLength(1);
    expect(await log.retain(new Date(start + 9_000), new Date(start + 8_000))).toBe(105);
    expect(await allEntries(log)).toHaveLength(2);
    expect(await breaksOf(log)).toEqual([]);
  });

  test('a removal of many expired entries reads each of them only twice', async () => {
    await using database = await openTestDatabase();
    // A connection of its own, which reports its own statistics on request.
    await using alone = database.database.alone({ statementTimeoutMs: 10_000 });
    const log = await openPostgresAudit(alone, 'one');
    const batches = Array.from({ length: 10 }, (_, at) => at * 500);
    for (const from of batches) {
      await log.write(Array.from({ length: 500 }, (_, at) => auditContent(from + at + 1)));
    }
    const rowsRead = async (): Promise<number> => {
      await alone.sql`select pg_stat_force_next_flush()`;
      const [row] = await alone.sql<{ rows: string }[]>`
        select seq_tup_read + idx_tup_fetch as rows from pg_stat_user_tables
        where schemaname = 'audit' and relname = 'entries'`;
      return Number(row?.rows);
    };
    const before = await rowsRead();
    expect(await log.retain(new Date(start + 4_001), new Date(start + 9_000))).toBe(4_000);
    const read = (await rowsRead()) - before;
    // The deletion reads the deleted rows a second time; the last batch also reads 500 rows that are kept.
    expect(read).toBeGreaterThanOrEqual(4_000);
    expect(read).toBeLessThanOrEqual(2 * 4_000 + 500);
    expect(await breaksOf(log)).toEqual([]);
  });

  test('entries that were removed without retention break the chain', async () => {
    await using database = await openTestDatabase();
    const { sql } = database.database;
    const log = await openPostgresAudit(database.database, 'one');
    await log.write(Array.from({ length: 5 }, (_, at) => auditContent(at + 1)));
    const third = (await allEntries(log))[2];
    await sql.begin(async (own) => {
      await own`select set_config('portcullis.audit_retention', 'on', true)`;
      await own`delete from audit.entries where number <= 3`;
      await own`update audit.chains set removed_number = 3, removed_hash = ${third?.hash ?? ''}`;
    });
    expect(await breaksOf(log)).toEqual([
      { chain: 'one', number: 3, problem: 'it was removed, and no entry of retention records that' },
    ]);
  });

  test('filters select entries by author, target, action, outcome, chain and time', async () => {
    await using database = await openTestDatabase();
    const log = await openPostgresAudit(database.database, 'one');
    const other = await openPostgresAudit(database.database, 'two');
    await log.write([
      auditContent(1),
      auditContent(2, { action: 'binding.unbind', outcome: 'refused', code: 'etag_mismatch' }),
    ]);
    await other.write([auditContent(3, { operationId: 'operation-3' })]);
    const found = async (filter: Parameters<AuditLog['read']>[0]['filter']) =>
      (await log.read({ filter, order: 'oldest', limit: 10 })).entries.map((one) => one.content.target?.id);
    expect(await found({ subject: 'user-1' })).toEqual(['policy-1']);
    expect(await found({ subject: 'user' })).toEqual([]);
    expect(await found({ targetId: 'policy-2' })).toEqual(['policy-2']);
    expect(await found({ action: 'binding.unbind' })).toEqual(['policy-2']);
    expect(await found({ outcome: 'accepted' })).toEqual(['policy-1', 'policy-3']);
    expect(await found({ chain: 'two' })).toEqual(['policy-3']);
    expect(await found({ operationId: 'operation-3' })).toEqual(['policy-3']);
    const times = { since: '2026-01-01T00:00:00.002Z', until: '2026-01-01T00:00:00.003Z' };
    expect(await found(times)).toEqual(['policy-2']);
    expect(await breaksOf(log)).toEqual([]);
  });

  test('an observation of one source is recorded once, whichever replica makes it', async () => {
    await using database = await openTestDatabase();
    const log = await openPostgresAudit(database.database, 'one');
    const added = await Promise.all([1, 2, 3, 4].map((at) => log.writeOnce('revision/1', auditContent(at))));
    expect(added.filter((one) => one)).toHaveLength(1);
    expect(await log.writeOnce('revision/2', auditContent(5))).toBe(true);
    expect(await allEntries(log)).toHaveLength(2);
  });

  test('sources that can no longer be observed are removed after their retention, and sources that are still kept are not', async () => {
    await using database = await openTestDatabase();
    const log = await openPostgresAudit(database.database, 'one');
    const other = await openPostgresAudit(database.database, 'two');
    const old = Array.from({ length: 1_100 }, (_, at) => `application/${at}`);
    for (let from = 0; from < old.length; from += 500) await log.addSources(old.slice(from, from + 500));
    await log.addSources(['revision/1']);
    await other.addSources(['application/1']);
    await database.database.sql`update audit.sources set added_at = clock_timestamp() - interval '3 days 1 minute'`;
    await log.addSources(['application/new']);
    const { signal } = new AbortController();
    const forget = (days: number) => log.forgetSources('application/', { days, except: ['application/7'] }, signal);
    expect([await forget(4), await forget(3), await forget(3)]).toEqual([0, 1_099, 0]);
    const asked = ['application/7', 'application/8', 'application/new', 'revision/1'];
    expect([await log.unknownSources(asked), await other.unknownSources(['application/1'])]).toEqual([
      ['application/8'],
      [],
    ]);
  });

  test('one call removes 10,000 sources, and none after its signal is aborted', async () => {
    await using database = await openTestDatabase();
    const log = await openPostgresAudit(database.database, 'one');
    await database.database.sql`
      insert into audit.sources (chain, source, added_at)
      select 'one', 'application/' || at, now() - interval '2 days' from generate_series(1, 10001) as at`;
    const stop = new AbortController();
    const forget = (signal: AbortSignal) => log.forgetSources('application/', { days: 1, except: [] }, signal);
    expect(await forget(AbortSignal.abort())).toBe(0);
    expect([await forget(stop.signal), await forget(stop.signal)]).toEqual([10_000, 1]);
  });
});
