import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { openEmbeddedIndex } from '#search/adapters/embedded/embedded-index';
import { analyse } from '#search/analysis/analyse';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import { type CollectionRecord, findCollection } from '../collections/collection-record.ts';
import { chunkSource } from '../index/chunk-source.ts';
import { scriptedModels } from '../ingest/testing/scripted-models.ts';
import { searchNewest } from '../query/search-newest.ts';
import { documentOf, type OpenedRetrieval, startRetrieval } from '../testing/start-retrieval.ts';

const ann = { user: 'ann', groups: ['staff'] };

describe.skipIf(missingPostgres !== undefined)(onPostgres('searches during changes'), () => {
  const parts = new AsyncDisposableStack();
  let opened: TestDatabase;
  let service: OpenedRetrieval;
  let collectionId = '';

  beforeAll(async () => {
    opened = parts.use(await openTestDatabase());
    service = parts.use(await startRetrieval(opened));
    const body = { name: 'handbook', embedding_profile_id: 'test-profile' };
    collectionId = String((await service.call(ann, '/v1/collections', body)).json['collection_id']);
    await service.ingest(ann, [documentOf('handbook', 'a', 'harbour first'), documentOf('handbook', 'b', 'harbour')]);
  });
  afterAll(() => parts.disposeAsync());

  /** Searches while `change` runs between the choice of candidates and the decision about them. */
  async function search(change: () => Promise<unknown>, readBefore?: CollectionRecord) {
    await using index = openEmbeddedIndex({ source: chunkSource(opened.database), mostBytes: 2 ** 26 });
    const collection = readBefore ?? (await findCollection(opened.database.sql, 'acme', { id: collectionId }));
    if (collection === undefined) throw new Error('the collection is absent');
    const disturbed: typeof index = {
      ...index,
      async candidates(query, signal) {
        const found = await index.candidates(query, signal);
        await change();
        return found;
      },
    };
    const ranked = await searchNewest(
      { database: opened.database, index: disturbed, models: scriptedModels(), analyse },
      {
        collection,
        visibility: { tenant: 'acme', collectionId, labels: 'every' },
        text: 'harbour',
        mode: 'bm25',
        topK: 10,
        depth: 10,
        condition: undefined,
        call: { signal: new AbortController().signal, traceparent: '' },
      },
      () => undefined,
    );
    return ranked.map(({ chunk }) => `${chunk.docId}: ${chunk.text.replace('Part\n', '')}`).sort();
  }

  test('a document whose text changes during a search is found with its newer text', async () => {
    let left = 1;
    const found = await search(async () => {
      if (left-- > 0) await service.ingest(ann, [documentOf('handbook', 'a', 'harbour second')]);
    });
    expect(found).toEqual(['a: harbour second', 'b: harbour']);
  });

  test('a document that is deleted during a search is not found, and the search is not repeated', async () => {
    let calls = 0;
    const found = await search(async () => {
      calls += 1;
      if (calls === 1) await service.ingest(ann, [documentOf('handbook', 'b', '', { op: 'delete' })]);
    });
    expect([found, calls]).toEqual([['a: harbour second'], 1]);
  });

  test('a search of a version that was replaced and removed since it began is repeated in the active one', async () => {
    const { sql } = opened.database;
    const before = await findCollection(opened.database.sql, 'acme', { id: collectionId });
    const reindex = { embedding_profile_id: 'other-profile' };
    expect((await service.call(ann, `/v1/collections/${collectionId}:reindex`, reindex)).status).toBe(202);
    await until('the new version is active', async () => {
      const [row] = await sql`select from retrieval.collections where active_version = 2`;
      return row !== undefined;
    });
    const all = await search(async () => undefined);
    expect(all.length).toBeGreaterThan(0);
    for (const removed of ['in part', 'completely']) {
      if (removed === 'completely') await sql`delete from retrieval.chunks where version = 1`;
      else
        await sql`delete from retrieval.chunks where version = 1 and ctid = (select min(ctid) from retrieval.chunks)`;
      expect(await search(async () => undefined, before)).toEqual(all);
    }
  });

  test('a search is refused when the collection changes during every retry, because its result could be incomplete', async () => {
    let at = 0;
    const failing = search(async () => {
      at += 1;
      await service.ingest(ann, [documentOf('handbook', 'a', `harbour ${at}`)]);
    });
    await expect(failing).rejects.toMatchObject({ code: 'search_unavailable', fault: 'behind' });
  });
});
