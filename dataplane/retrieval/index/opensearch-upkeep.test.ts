import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { answers, silence, startScriptedHttp } from '#kit/testing/scripted-http';
import { until } from '#kit/testing/until';
import { connectOpenSearch } from '#search/adapters/opensearch/connect-opensearch';
import { openOpenSearchIndex } from '#search/adapters/opensearch/opensearch-index';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import { insertDocuments } from '../ingest/testing/insert-documents.ts';
import { insertCollection, openIngest } from '../ingest/testing/open-ingest.ts';
import { chunkSource } from './chunk-source.ts';
import { openSearchPlaces } from './opensearch-places.ts';
import { openSearchUpkeep } from './opensearch-upkeep.ts';
import { partitionName } from './partition-name.ts';

const never = new AbortController().signal;

describe.skipIf(missingPostgres !== undefined)(onPostgres('changes that OpenSearch follows without a query'), () => {
  let opened: TestDatabase;
  beforeAll(async () => {
    opened = await openTestDatabase();
  });
  afterAll(() => opened?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    await opened.database.sql`drop schema if exists retrieval cascade`;
    const { collectionId } = await openIngest(opened.database);
    const places = openSearchPlaces(opened.database, { prefix: 'docs', dimensionsOf: () => 8 });
    const others = await Promise.all([1, 2].map(() => insertCollection(opened.database)));
    for (const id of [collectionId, ...others]) {
      await insertDocuments(opened.database, id, { documents: 1, chunksOfEach: 1 });
      await places.placeOf(partitionName({ collectionId: id, version: 1 }));
    }
  });

  async function openUpkeep(url: string) {
    const parts = new AsyncDisposableStack();
    const connection = parts.use(await connectOpenSearch({ nodes: [new URL(url)] }));
    const places = openSearchPlaces(opened.database, { prefix: 'docs', dimensionsOf: () => 8 });
    const found = new Set<string>();
    const placeOf = (partition: string) => {
      found.add(partition);
      return places.placeOf(partition);
    };
    const index = parts.use(openOpenSearchIndex({ connection, source: chunkSource(opened.database), placeOf }));
    const upkeep = openSearchUpkeep({ index, places, connection, prefix: 'docs' });
    return { upkeep, places, found, [Symbol.asyncDispose]: () => parts.disposeAsync() };
  }

  test('an OpenSearch that refuses requests is called for one partition, and for the others later', async () => {
    await using server = await startScriptedHttp(answers({}, 503));
    await using opening = await openUpkeep(server.url);
    expect(await opening.places.behind(50)).toHaveLength(3);
    await opening.upkeep.followChanges(never);
    expect(opening.found.size).toBe(1);
    await until('every partition was tried', async () => {
      await opening.upkeep.followChanges(never);
      return opening.found.size === 3;
    });
    expect(await opening.places.behind(50)).toHaveLength(3);
  });

  test('a place that was left is emptied until the signal ends the call, and is kept for the next one', async () => {
    await using parts = new AsyncDisposableStack();
    const server = await startScriptedHttp(silence);
    const opening = parts.use(await openUpkeep(server.url));
    // The server ends first, and with it the request that waits.
    parts.use(server);
    const { sql } = opened.database;
    const [row] = await sql<{ id: string }[]>`select collection_id as id from retrieval.opensearch_places limit 1`;
    await opening.places.leave(partitionName({ collectionId: row?.id ?? '', version: 1 }));
    await sql`update retrieval.opensearch_places set left_at = left_at - interval '1 hour' where left_at is not null`;
    const stop = new AbortController();
    const ended = opening.upkeep.clearLeft(stop.signal);
    await until('a request waits', () => server.seen.length > 0);
    stop.abort();
    await ended;
    expect(await opening.places.leftFor(0)).toHaveLength(1);
    expect(server.seen).toHaveLength(1);
  });

  test('a call that waits for an answer of OpenSearch ends with its signal', async () => {
    await using server = await startScriptedHttp(silence);
    await using opening = await openUpkeep(server.url);
    const stop = new AbortController();
    const ended = opening.upkeep.followChanges(stop.signal);
    await until('a request waits', () => server.seen.length > 0);
    stop.abort();
    await ended;
    expect(opening.found.size).toBe(1);
    expect(server.seen).toHaveLength(1);
  });
});
