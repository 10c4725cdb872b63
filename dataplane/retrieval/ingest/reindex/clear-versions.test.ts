import { describe, expect, test } from 'vitest';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { mostChunksRemoved } from '../remove-chunks.ts';
import { insertDocuments } from '../testing/insert-documents.ts';
import { openIngest } from '../testing/open-ingest.ts';
import { countRemovedRows } from '../testing/removed-rows.ts';
import { clearVersions } from './clear-versions.ts';

describe.skipIf(missingPostgres !== undefined)(onPostgres('the removal of old versions'), () => {
  test('a version of documents with many chunks is removed in transactions of a bounded size, without the other version', async () => {
    await using opened = await openTestDatabase();
    const { database } = opened;
    const { sql } = database;
    const { collectionId } = await openIngest(database);
    await insertDocuments(database, collectionId, { documents: 3, chunksOfEach: (mostChunksRemoved + 1) / 3 });
    await sql`
      insert into retrieval.chunks (doc, seq, version, no, chunk_id, start_at, end_at, text, tokens, terms, vector)
      select doc, 1, 2, 1, 'second/' || doc, 0, 5, 'otter', 1, 'otter', '' from retrieval.documents`;
    await sql`update retrieval.index_versions set state = 'retired', ended_at = now() - interval '1 minute'`;
    const removed = await countRemovedRows(database, 'chunks');
    const clear = () => clearVersions({ database, graceMs: 0, dropPartition: async () => undefined });
    expect(await clear()).toBe(1);
    expect(await removed()).toEqual([mostChunksRemoved, 1]);
    expect(await clear()).toBe(0);
    const left = await sql`
      select version, count(*)::int as chunks, (select count(*)::int from retrieval.indexed_documents) as indexed
      from retrieval.chunks group by version`;
    expect([...left]).toEqual([{ version: 2, chunks: 3, indexed: 0 }]);
  });
});
