import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { FailingProvider } from '#contracts/failing-provider';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import { readFailingProviders } from '../../collections/read-failing-providers.ts';
import { readBacklog } from '../../monitoring/read-backlog.ts';
import { GuardUnavailableError } from '../faults.ts';
import type { DocumentGuard } from '../ports.ts';
import { buildNext } from '../reindex/run-reindexer.ts';
import { startReindex } from '../reindex/start-reindex.ts';
import { type OpenedIngest, openIngest } from '../testing/open-ingest.ts';
import { unwrittenLogger } from '../testing/unwritten-logger.ts';

const names: FailingProvider = { rule: 'names', provider: 'presidio', cause: 'name_not_found' };
const cards: FailingProvider = { rule: 'cards', provider: 'luhn', cause: 'timeout' };

describe.skipIf(missingPostgres !== undefined)(onPostgres('detectors of the policy of documents'), () => {
  let opened: TestDatabase;
  let ingest: OpenedIngest;
  let failing: FailingProvider | 'guard' | undefined;
  const guard: DocumentGuard = {
    async check(_scope, texts) {
      if (failing === 'guard') throw new GuardUnavailableError('network');
      if (failing !== undefined) throw new GuardUnavailableError('policy_unavailable', failing);
      return { kind: 'passed', texts, policyRevision: 'p:1' };
    },
  };

  beforeAll(async () => {
    opened = await openTestDatabase();
  });
  afterAll(async () => {
    await opened[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    failing = undefined;
    await opened.database.sql`drop schema if exists retrieval cascade`;
    ingest = await openIngest(opened.database, { guard });
  });

  const found = () => readFailingProviders(opened.database, ingest.collectionId);
  const counted = async () => (await readBacklog(opened.database)).failingProviders;
  const dueNow = async (): Promise<void> => {
    await opened.database.sql`update retrieval.jobs set due_at = clock_timestamp() where status = 'RUNNING'`;
  };

  test('a job that waits for a detector names its rule, provider and cause until the detector judges', async () => {
    await ingest.submit({ docId: 'a', text: 'one' }, { docId: 'b', text: 'two' }, { docId: 'c', text: 'three' });
    failing = names;
    expect([await ingest.work(), await ingest.work()]).toEqual(['released', 'released']);
    failing = cards;
    expect(await ingest.work()).toBe('released');
    expect([await found(), await counted()]).toEqual([expect.arrayContaining([names, cards]), 2]);
    expect(await found()).toHaveLength(2);
    failing = undefined;
    await dueNow();
    await ingest.drain();
    expect([await found(), await counted()]).toEqual([[], 0]);
  });

  test('a job that later waits for the guard itself names no detector, and neither does one that is a dead letter', async () => {
    await ingest.submit({ docId: 'a', text: 'one' });
    failing = names;
    await ingest.work();
    failing = 'guard';
    await dueNow();
    expect(await ingest.work()).toBe('released');
    expect(await found()).toEqual([]);
    failing = names;
    await dueNow();
    await ingest.work();
    expect(await found()).toEqual([names]);
    await opened.database.sql`
      update retrieval.jobs set unavailable_since = clock_timestamp() - interval '24 hours', due_at = clock_timestamp()`;
    await ingest.work();
    expect([await found(), await counted()]).toEqual([[], 0]);
  });

  test('a reindex that waits for a detector names it until the version is built', async () => {
    await ingest.submit({ docId: 'a', text: 'one' });
    await ingest.drain();
    await startReindex(opened.database, ingest.collectionId, undefined);
    const build = () =>
      buildNext(ingest.ports, { logger: unwrittenLogger, leaseMs: 30_000 }, new AbortController().signal);
    failing = names;
    expect(await build()).toBe('released');
    expect([await found(), await counted()]).toEqual([[names], 1]);
    failing = undefined;
    await opened.database.sql`update retrieval.index_versions set due_at = clock_timestamp()`;
    expect(await build()).toBe('switched');
    expect([await found(), await counted()]).toEqual([[], 0]);
  });
});
