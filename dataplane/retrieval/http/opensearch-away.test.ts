import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import { documentOf, type OpenedRetrieval, startRetrieval } from '../testing/start-retrieval.ts';

const ann = { user: 'ann', groups: ['staff'] };

describe.skipIf(missingPostgres !== undefined)(onPostgres('searches without a reachable OpenSearch'), () => {
  let opened: TestDatabase;
  let service: OpenedRetrieval;
  /** Id of the collection. */
  let path: string;
  const folder = temporaryFolder();
  beforeAll(async () => {
    opened = await openTestDatabase();
    service = await startRetrieval(opened, {
      config: {
        stores: {
          nats: undefined,
          objects: { kind: 'folder', directory: folder.path },
          s3: undefined,
          contentSourcesFile: undefined,
          // No server listens on this port.
          openSearch: { url: new URL('http://127.0.0.1:9'), credential: undefined, caFile: undefined, prefix: 'docs' },
        },
      },
      overrides: { times: { pollMs: 50, reconcileMs: 50, graceMs: 0 } },
    });
    const created = { name: 'handbook', embedding_profile_id: 'test-profile' };
    path = `/v1/collections/${(await service.call(ann, '/v1/collections', created)).json['collection_id']}`;
  });
  afterAll(async () => {
    await service?.[Symbol.asyncDispose]();
    await opened?.[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  const removalFailures = async (): Promise<number> => {
    const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text();
    return Number(/dependency_failures_total\{[^}]*dependency="index"[^}]*\} (\d+)/.exec(metrics)?.[1] ?? 0);
  };

  test.each(['bm25', 'vector', 'hybrid'])(
    'a %s query without OpenSearch is answered 503 with a retry time, also for an empty collection, and never as empty',
    async (mode) => {
      const { status, json, headers } = await service.call(ann, '/v1/query', {
        collection: 'handbook',
        text: 'x',
        mode,
      });
      expect([status, json['code'], headers.get('retry-after')]).toEqual([503, 'unavailable', '1']);
      expect(json).not.toHaveProperty('items');
    },
  );

  test('documents are accepted and ingested without OpenSearch, and a reindex switches', async () => {
    const jobs = await service.ingest(ann, [documentOf('handbook', 'travel', 'Hotels.')]);
    expect(jobs.map(({ status }) => status)).toEqual(['DONE']);
    expect((await service.call(ann, `${path}:reindex`, { embedding_profile_id: 'other-profile' })).status).toBe(202);
    await until('the reindex has switched', async () => {
      const { json } = await service.call(ann, path);
      return json['embedding_profile_id'] === 'other-profile';
    });
  });

  test('without OpenSearch a replica stays ready and reports the index as degraded', async () => {
    expect((await fetch(`${service.adminUrl}/readyz`)).status).toBe(200);
    expect((await service.call(ann, '/health')).json).toMatchObject({
      status: 'degraded',
      components: { postgres: 'ok', opensearch: 'degraded' },
      details: { search: 'opensearch' },
    });
  });

  test('index entries of a deleted collection stay until they can be removed, and the failure is counted for the index', async () => {
    await until('the version has a place', async () => {
      await service.call(ann, '/v1/query', { collection: 'handbook', text: 'hotel', mode: 'bm25' });
      return (await opened.database.sql`select from retrieval.opensearch_places where version = 2`).length > 0;
    });
    const before = await removalFailures();
    expect((await service.send(ann, 'DELETE', path)).status).toBe(202);
    await until('removals fail', async () => (await removalFailures()) > before + 2);
  });
});
