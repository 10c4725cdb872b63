import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { analyse } from '#search/analysis/analyse';
import type { SearchIndex } from '#search/ports';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import { type CollectionRecord, findCollection } from '../collections/collection-record.ts';
import { type OpenedIngest, openIngest } from '../ingest/testing/open-ingest.ts';
import { scriptedModels } from '../ingest/testing/scripted-models.ts';
import { searchCollection } from './search-collection.ts';

describe.skipIf(missingPostgres !== undefined)(onPostgres('a search with an index of bounded windows'), () => {
  let opened: TestDatabase;
  let ingest: OpenedIngest;
  beforeAll(async () => {
    opened = await openTestDatabase();
    ingest = await openIngest(opened.database);
    await ingest.submit({ docId: 'a', text: 'A harbour.' });
    await ingest.drain();
  });
  afterAll(() => opened?.[Symbol.asyncDispose]());

  /** Searches with an index that ranks entries without a document first, then the only chunk. */
  async function search(mostCandidates: number, hidden: number) {
    const { sql } = opened.database;
    const [chunk] = await sql<{ chunk_id: string }[]>`select chunk_id from retrieval.chunks`;
    const ids = [...Array.from({ length: hidden }, (_, at) => `hidden-${at}`), chunk?.chunk_id ?? ''];
    const windows: number[] = [];
    const index: Pick<SearchIndex, 'candidates' | 'mostCandidates'> = {
      mostCandidates,
      async candidates({ window }) {
        windows.push(window);
        return [ids.slice(0, window).map((id, at) => ({ id, score: ids.length - at }))];
      },
    };
    const found = await findCollection(sql, 'acme', { id: ingest.collectionId });
    const collection = { ...(found as CollectionRecord), chunkCount: 1_000 };
    const ports = { database: opened.database, index: index as SearchIndex, models: scriptedModels(), analyse };
    const { collectionId } = collection;
    const { ranked } = await searchCollection(ports, {
      collection,
      visibility: { tenant: 'acme', collectionId, labels: ['group:acme/staff'] },
      text: 'harbour',
      mode: 'bm25',
      topK: 1,
      depth: 1,
      condition: undefined,
      profile: undefined,
      call: { signal: new AbortController().signal, traceparent: '' },
    });
    return { found: ranked.map(({ chunk: { docId } }) => docId), windows };
  }

  test('a chunk is found although more hidden chunks rank before it than the first search window contains', async () => {
    expect(await search(100, 99)).toEqual({ found: ['a'], windows: [50, 100] });
    expect(await search(Number.POSITIVE_INFINITY, 999)).toEqual({ found: ['a'], windows: [50, 400, 1_000] });
  });

  test('a search that finds too few visible chunks in its largest window is refused, unless the ranking has ended', async () => {
    await expect(search(100, 100)).rejects.toMatchObject({ code: 'search_unavailable', fault: 'too_deep' });
    expect(await search(102, 100)).toEqual({ found: ['a'], windows: [50, 102] });
  });
});
