import { describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import type { Database } from '#sql/connect';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { insertDocuments } from '../testing/insert-documents.ts';
import { insertCollection, openIngest } from '../testing/open-ingest.ts';
import { scriptedModels } from '../testing/scripted-models.ts';
import { unwrittenLogger } from '../testing/unwritten-logger.ts';
import { pauseAfterRounds } from './build-index.ts';
import { claimVersion } from './claim-version.ts';
import { prepareVersion } from './prepare-version.ts';
import { buildNext, runReindexer } from './run-reindexer.ts';
import { startReindex } from './start-reindex.ts';

/** The ingest of a collection with one live document, whose reindex has been requested. */
async function ingestToRebuild(database: Database) {
  const ingest = await openIngest(database);
  await ingest.submit({ docId: 'a', text: 'words' });
  await ingest.drain();
  await startReindex(database, ingest.collectionId, undefined);
  return ingest;
}

test('the pause of a build doubles after each round that could not index every document, up to 10 seconds', () => {
  expect([1, 2, 6, 7, 2_000].map(pauseAfterRounds)).toEqual([200, 400, 6_400, 10_000, 10_000]);
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
    // Of all statements only the count writes 0.
    await database.sql`
      create function public.refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$`;
    await database.sql`
      create trigger refused before update of documents_done on retrieval.index_versions
      for each row when (new.documents_done = 0) execute function public.refuse()`;
    const options = { logger: unwrittenLogger, leaseMs: 30_000 };
    expect(await buildNext(ingest.ports, options, new AbortController().signal)).toBe('switched');
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
