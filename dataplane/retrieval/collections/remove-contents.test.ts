import { describe, expect, test } from 'vitest';
import { openRelations, relationTables } from '#relations/adapters/open-relations';
import { migrate } from '#sql/migrate';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { mostChunksRemoved } from '../ingest/commit/remove-chunks.ts';
import { insertDocuments } from '../ingest/testing/insert-documents.ts';
import { insertCollection, openIngest } from '../ingest/testing/open-ingest.ts';
import { countRemovedChunks } from '../ingest/testing/removed-chunks.ts';
import { removeContents } from './remove-contents.ts';

describe.skipIf(missingPostgres !== undefined)(onPostgres('the removal of deleted collections'), () => {
  test('documents with many chunks are removed in transactions of a bounded size, and no other collection is affected', async () => {
    await using opened = await openTestDatabase();
    const { database } = opened;
    const { sql } = database;
    const { collectionId, ports } = await openIngest(database);
    const store = { kind: 'postgres' } as const;
    await migrate(database, relationTables(store));
    await using relations = await openRelations(store, database, undefined);
    const kept = await insertCollection(database);
    await insertDocuments(database, kept, { documents: 1, chunksOfEach: 2 });
    await insertDocuments(database, collectionId, { documents: 3, chunksOfEach: (mostChunksRemoved + 1) / 3 });
    await sql`update retrieval.collections set status = 'deleted' where collection_id = ${collectionId}`;
    const removed = await countRemovedChunks(database);
    const remove = () =>
      removeContents({ database, objects: ports.objects, relations, dropPartition: async () => undefined });
    expect(await remove()).toBe(1);
    expect(await removed()).toEqual([mostChunksRemoved, 1]);
    expect(await remove()).toBe(0);
    const left = await sql`
      select collection_id as "collectionId", count(*)::int as chunks
      from retrieval.documents join retrieval.chunks using (doc) group by collection_id`;
    expect([...left]).toEqual([{ collectionId: kept, chunks: 2 }]);
  });
});
