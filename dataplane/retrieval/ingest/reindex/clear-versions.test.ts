import { describe, expect, test } from 'vitest';
import { SearchUnavailableError } from '#search/search-error';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { mostChunksRemoved } from '../remove-chunks.ts';
import { clearVersions } from '../testing/clear-versions.ts';
import { insertDocuments } from '../testing/insert-documents.ts';
import { openIngest } from '../testing/open-ingest.ts';
import { countRemovedRows } from '../testing/removed-rows.ts';
import { versionClearer } from './clear-versions.ts';

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
    const clear = () => clearVersions(database);
    expect(await clear()).toBe(1);
    expect(await removed()).toEqual([mostChunksRemoved, 1]);
    expect(await clear()).toBe(0);
    const left = await sql`
      select version, count(*)::int as chunks, (select count(*)::int from retrieval.indexed_documents) as indexed
      from retrieval.chunks group by version`;
    expect([...left]).toEqual([{ version: 2, chunks: 3, indexed: 0 }]);
  });

  test('a version that cannot be removed does not delay other versions, and is tried again after a pause that grows', async () => {
    await using opened = await openTestDatabase();
    const { database } = opened;
    const { sql } = database;
    await openIngest(database);
    await sql`
      insert into retrieval.index_versions (collection_id, number, embedding_profile_id, state, ended_at)
      select collection_id, number, 'test-profile', 'failed', now() - interval '1 minute' * (10 - number)
      from retrieval.collections, generate_series(2, 4) number`;
    const away = new SearchUnavailableError('unreachable');
    const refused = new Set([2, 3]);
    const seen: { now: number; failed: unknown[]; dropped: number[] } = { now: 0, failed: [], dropped: [] };
    const clear = versionClearer({
      database,
      graceMs: 0,
      now: () => seen.now,
      async dropPartition(_collectionId, version) {
        if (refused.has(version)) throw away;
        seen.dropped.push(version);
      },
      onFailed: ({ version }, error) => void seen.failed.push([version, error]),
    });
    const { signal } = new AbortController();
    const failed = [
      [2, away],
      [3, away],
    ];
    expect([await clear(signal), seen.dropped, seen.failed]).toEqual([1, [4], failed]);
    seen.now = 4_999;
    expect([await clear(signal), seen.failed]).toEqual([0, failed]);
    seen.now = 10_000;
    expect([await clear(signal), seen.failed]).toEqual([0, [...failed, ...failed]]);
    refused.clear();
    seen.now = 19_999;
    expect(await clear(signal)).toBe(0);
    seen.now = 30_000;
    expect([await clear(signal), seen.dropped]).toEqual([2, [4, 2, 3]]);
    const uncleared = await sql`select from retrieval.index_versions where state = 'failed' and not cleared`;
    expect(uncleared).toHaveLength(0);
  });
});
