import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import type { Database } from '#sql/connect';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { insertDocuments } from '../testing/insert-documents.ts';
import { insertCollection, openIngest } from '../testing/open-ingest.ts';
import { scriptedModels } from '../testing/scripted-models.ts';
import { unwrittenLogger } from '../testing/unwritten-logger.ts';
import { claimVersion } from './claim-version.ts';
import { prepareVersion } from './prepare-version.ts';
import { buildNext, pauseOfWait, runReindexer } from './run-reindexer.ts';
import { startReindex } from './start-reindex.ts';

/** Opens the ingest of a collection with one live document, whose reindex was requested. */
async function ingestToRebuild(database: Database) {
  const ingest = await openIngest(database);
  await ingest.submit({ docId: 'a', text: 'words' });
  await ingest.drain();
  await startReindex(database, ingest.collectionId, undefined);
  return ingest;
}

test('a build that waits for jobs pauses for a tenth of its age, at least 200 ms and at most 10 seconds', () => {
  const ages = [0, 2_000, 2_010, 99_990, 100_000, 86_400_000];
  expect(ages.map((ageMs) => Math.round(pauseOfWait(ageMs)))).toEqual([200, 200, 201, 9_999, 10_000, 10_000]);
});

describe.skipIf(missingPostgres !== undefined)(onPostgres('a build that waits for a document'), () => {
  test('a build that waits for a document takes no lock of the collection, and ends with its claim', async () => {
    await using opened = await openTestDatabase();
    const { database } = opened;
    await ingestToRebuild(database);
    const claim = await claimVersion(database.sql, 30_000);
    if (claim === undefined) throw new Error('no version is due');
    await database.sql.begin(async (sql) => {
      await sql`select from retrieval.collections for no key update`;
      expect(await prepareVersion(database, claim)).toBe('incomplete');
    });
    expect(await prepareVersion(database, { ...claim, attempt: claim.attempt + 1 })).toBe('claim_over');
  });
});

describe.skipIf(missingPostgres !== undefined)(onPostgres('a build whose progress cannot be counted'), () => {
  test('a build whose progress cannot be counted is completed by the same claim', async () => {
    await using opened = await openTestDatabase();
    const { database } = opened;
    const ingest = await ingestToRebuild(database);
    // Only the statement that writes the count writes the value 0.
    await database.sql`
      create function public.refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$`;
    await database.sql`
      create trigger refused before update of documents_done on retrieval.index_versions
      for each row when (new.documents_done = 0) execute function public.refuse()`;
    const options = { logger: unwrittenLogger, leaseMs: 30_000 };
    expect(await buildNext(ingest.ports, options, new AbortController().signal)).toBe('switched');
  });
});

/** Opens another collection with one live document of its own, whose reindex was requested. */
async function otherToRebuild(database: Database, tenant: string): Promise<string> {
  const collectionId = await insertCollection(database);
  await insertDocuments(database, collectionId, { documents: 2, chunksOfEach: 1 });
  await database.sql`
    update retrieval.documents set text = 'words', ranges = '[{"kind":"section","start":0,"end":5}]'
    where collection_id = ${collectionId}`;
  await database.sql`update retrieval.collections set tenant = ${tenant} where collection_id = ${collectionId}`;
  await startReindex(database, collectionId, undefined);
  return collectionId;
}

async function stateOf({ sql }: Database, collectionId: string): Promise<string | undefined> {
  const [row] = await sql<{ state: string }[]>`
    select state from retrieval.index_versions where collection_id = ${collectionId} and number = 2`;
  return row?.state;
}

const reindexerOptions = {
  logger: unwrittenLogger,
  ...{ leaseMs: 60_000, pollMs: 10, graceMs: 60_000 },
  dropPartition: async () => undefined,
  onRemovalFailed: () => undefined,
};

describe.skipIf(missingPostgres !== undefined)(onPostgres('the turns of builds'), () => {
  test('a build whose document waits for a job that cannot end delays no build of another tenant', async () => {
    await using opened = await openTestDatabase();
    const { database } = opened;
    const ingest = await ingestToRebuild(database);
    // The job that writes a newly masked text is open and no worker processes it.
    await database.sql`
      insert into retrieval.jobs (job_id, tenant, collection_id, collection, doc, doc_id, seq, op, op_epoch, content_hash,
        idempotency_key, labels, payload_key, staged, trace_id)
      select id, d.tenant, d.collection_id, 'handbook', d.doc, d.doc_id, 2, 'upsert', d.op_epoch, 'reindex-' || id,
        'reindex-2', '{}', 'staged', true, 'trace'
      from retrieval.documents d, (select ${randomUUID()}::uuid as id) i`;
    await database.sql`update retrieval.documents set last_seq = 2`;
    await using _reindexer = runReindexer(ingest.ports, reindexerOptions);
    await until('the waiting version was claimed', async () => {
      const rows = await database.sql`select from retrieval.index_versions where state = 'building' and attempt > 0`;
      return rows.length > 0;
    });
    const other = await otherToRebuild(database, 'other');
    await until('the other version is active', async () => (await stateOf(database, other)) === 'active');
    expect(await stateOf(database, ingest.collectionId)).toBe('building');
  });

  test('a build whose turn is over is continued after the build of another tenant, and not interrupted for its own tenant', async () => {
    await using opened = await openTestDatabase();
    const { database } = opened;
    const ingest = await ingestToRebuild(database);
    await ingest.submit({ docId: 'b', text: 'more words' }, { docId: 'c', text: 'even more words' });
    await database.sql`update retrieval.index_versions set state = 'failed', failure_code = 'x', ended_at = now() where number = 2`;
    await ingest.drain();
    await startReindex(database, ingest.collectionId, undefined);
    const requested: string[] = [];
    const run = (tenant: string) => {
      const onStep = async (step: string): Promise<void> => {
        if (step !== 'built' || requested.includes(tenant)) return;
        requested.push(tenant);
        await otherToRebuild(database, tenant);
      };
      const options = { logger: unwrittenLogger, leaseMs: 30_000, turnMs: 0 };
      return buildNext({ ...ingest.ports, onStep }, options, new AbortController().signal);
    };
    const done = async () => {
      const [row] = await database.sql<{ done: number }[]>`
        select documents_done as done from retrieval.index_versions
        where collection_id = ${ingest.collectionId} and number = 3`;
      return row?.done;
    };
    expect([await run('other'), await done()]).toEqual(['turn_over', 1]);
    const ends = [];
    for (let end = await run('other'); end !== undefined; end = await run('other')) ends.push(end);
    expect(ends.filter((end) => end === 'switched')).toHaveLength(2);
    await startReindex(database, ingest.collectionId, undefined);
    expect(await run('acme')).toBe('switched');
  });

  test('the version of a tenant is claimed soon even if another tenant has many versions that were due earlier', async () => {
    await using opened = await openTestDatabase();
    const { database } = opened;
    await ingestToRebuild(database);
    for (let at = 0; at < 60; at += 1) await startReindex(database, await insertCollection(database), undefined);
    const other = await otherToRebuild(database, 'other');
    const claims: (string | undefined)[] = [];
    // Each claim chooses one of the two tenants with equal probability.
    for (let at = 0; at < 40; at += 1) claims.push((await claimVersion(database.sql, 30_000))?.collectionId);
    expect(claims).toContain(other);
    expect(new Set(claims).size).toBe(40);
  });
});

describe.skipIf(missingPostgres !== undefined)(onPostgres('the reindexer'), () => {
  test('one version is built at a time, however many jobs a worker processes at once', async () => {
    await using opened = await openTestDatabase();
    const { database } = opened;
    let [building, most] = [0, 0];
    const models = scriptedModels(async () => {
      building += 1;
      most = Math.max(most, building);
      await new Promise((resolve) => setTimeout(resolve, 20));
      building -= 1;
    });
    const ingest = await openIngest(database, { models });
    const collections = [ingest.collectionId, await insertCollection(database), await insertCollection(database)];
    for (const collectionId of collections) {
      await insertDocuments(database, collectionId, { documents: 5, chunksOfEach: 1 });
      await database.sql`
        update retrieval.documents set text = 'words', ranges = '[{"kind":"section","start":0,"end":5}]'
        where collection_id = ${collectionId}`;
      await startReindex(database, collectionId, undefined);
    }
    const options = {
      logger: unwrittenLogger,
      ...{ leaseMs: 60_000, pollMs: 10, graceMs: 60_000, concurrency: 4 },
      dropPartition: async () => undefined,
      onRemovalFailed: () => undefined,
    };
    await using _reindexer = runReindexer(ingest.ports, options);
    await until('every version is active', async () => {
      const rows = await database.sql`select from retrieval.index_versions where number = 2 and state = 'active'`;
      return rows.length === collections.length;
    });
    expect(most).toBe(1);
  });
});
