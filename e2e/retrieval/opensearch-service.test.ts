import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import type { RetrievalConfig } from '../../dataplane/retrieval/config.ts';
import {
  documentOf,
  type OpenedRetrieval,
  startRetrieval,
  type TestCaller,
} from '../../dataplane/retrieval/testing/start-retrieval.ts';
import { missingPostgres, openTestDatabase, type TestDatabase } from '../../libraries/sql/testing/test-database.ts';
import { expectNoTraceOfHidden } from './hidden-documents.ts';
import { missingOpenSearch, type OpenSearchServer, startOpenSearch } from './opensearch-server.ts';

const missing = missingPostgres ?? missingOpenSearch;
const ann = { user: 'ann', groups: ['staff'] };
const bob = { user: 'bob', groups: ['board'] };
const modes = ['bm25', 'vector', 'hybrid'];
const idsOf = (items: unknown): readonly string[] =>
  (items as readonly { readonly doc_id: string }[]).map(({ doc_id }) => doc_id).sort();

describe.skipIf(missing !== undefined)(`the retrieval service with OpenSearch${missing ? ` (${missing})` : ''}`, () => {
  let server: OpenSearchServer;
  let opened: TestDatabase;
  let folder: string;
  let service: OpenedRetrieval;

  const configOf = (): Partial<RetrievalConfig> => ({
    stores: {
      nats: undefined,
      objects: { kind: 'folder', directory: join(folder, 'objects') },
      s3: undefined,
      contentSourcesFile: undefined,
      openSearch: {
        url: server.url,
        credential: { user: 'retrieval', passwordFile: join(folder, 'password') },
        caFile: undefined,
        prefix: 'docs',
      },
    },
  });
  const times = { pollMs: 50, reconcileMs: 100, graceMs: 0 };
  const start = (database: TestDatabase) => startRetrieval(database, { config: configOf(), overrides: { times } });

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'portcullis-opensearch-'));
    writeFileSync(join(folder, 'password'), 'hunter2\n');
    server = await startOpenSearch();
    opened = await openTestDatabase();
    service = await start(opened);
  });
  afterAll(async () => {
    await service?.[Symbol.asyncDispose]();
    await opened?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });

  const create = async (name: string): Promise<string> => {
    const body = { name, visibility: 'public', embedding_profile_id: 'test-profile' };
    const { status, json } = await service.call(ann, '/v1/collections', body);
    expect(status).toBe(201);
    return `/v1/collections/${json['collection_id']}`;
  };
  const ask = (caller: TestCaller, collection: string, mode: string, of = service) =>
    of.call(caller, '/v1/query', { collection, text: 'hotels of the board', mode });
  /** The results of a caller in each mode; a search that first loads a partition may be repeated. */
  const find = (caller: TestCaller, collection: string, of = service) =>
    until('every mode is answered', async () => {
      const answers = await Promise.all(modes.map((mode) => ask(caller, collection, mode, of)));
      for (const { status, json } of answers) {
        if (status !== 503) expect([status, json]).toMatchObject([200, {}]);
      }
      return answers.every(({ status }) => status === 200) && answers.map(({ json }) => idsOf(json['items']));
    });
  const inEachMode = (...ids: readonly string[]) => modes.map(() => ids);
  const indices = async (): Promise<readonly string[]> => {
    const answer = await fetch(new URL('/_cat/indices/docs-*?format=json', server.url));
    return ((await answer.json()) as { index: string }[]).map(({ index }) => index).sort();
  };

  test('a document is found in each mode by its readers only, a change of its rights takes effect, and a deleted document is not found', async () => {
    await create('handbook');
    expect(await find(ann, 'handbook')).toEqual(inEachMode());
    await service.ingest(ann, [
      documentOf('handbook', 'travel', 'Hotels cost at most 180 euros.'),
      documentOf('handbook', 'plans', 'Hotels of the board.', { acl: { groups: ['board'] } }),
    ]);
    expect(await find(ann, 'handbook')).toEqual(inEachMode('travel'));
    expect(await find(bob, 'handbook')).toEqual(inEachMode('plans'));
    const acl = { groups: ['board', 'staff'] };
    await service.ingest(ann, [documentOf('handbook', 'plans', 'Hotels of the board.', { acl })]);
    expect(await find(ann, 'handbook')).toEqual(inEachMode('plans', 'travel'));
    await service.ingest(ann, [documentOf('handbook', 'plans', '', { op: 'delete', content: undefined })]);
    expect(await find(bob, 'handbook')).toEqual(inEachMode());
    expect(await find(ann, 'handbook')).toEqual(inEachMode('travel'));
    expect((await service.call(ann, '/health')).json).toMatchObject({
      status: 'ok',
      components: { opensearch: 'ok' },
      details: { search: 'opensearch' },
    });
  });

  test('a deleted document is removed from OpenSearch without a query', async () => {
    const entries = async (): Promise<number> => {
      await fetch(new URL('/docs-*/_refresh', server.url), { method: 'POST' });
      const body = JSON.stringify({ query: { prefix: { terms: 'xylophon' } } });
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(new URL('/docs-*/_count', server.url), { method: 'POST', headers, body });
      return ((await answer.json()) as { count: number }).count;
    };
    await create('quiet');
    await service.ingest(ann, [documentOf('quiet', 'gone', 'Hotels of the board with a xylophone.')]);
    expect(await find(ann, 'quiet')).toEqual(inEachMode('gone'));
    expect(await entries()).toBe(1);
    await service.ingest(ann, [documentOf('quiet', 'gone', '', { op: 'delete', content: undefined })]);
    await until('OpenSearch has no entry of the document', async () => (await entries()) === 0);
  });

  test('answers and scores from OpenSearch are the same with and without documents that are hidden by rights or dates', async () => {
    await expectNoTraceOfHidden(service, 'traces');
  });

  test('a reindex switches to an index of the other profile, and the index of the first profile is removed', async () => {
    const path = await create('moved');
    await service.ingest(ann, [documentOf('moved', 'travel', 'Hotels cost at most 180 euros.')]);
    expect(await find(ann, 'moved')).toEqual(inEachMode('travel'));
    const { sql } = opened.database;
    const [before] = await sql<{ prefix: string }[]>`
      select prefix from retrieval.opensearch_places where collection_id = ${path.slice(-36)} and left_at is null`;
    const reindex = { embedding_profile_id: 'other-profile' };
    expect((await service.call(ann, `${path}:reindex`, reindex)).status).toBe(202);
    await until('the reindex has switched', async () => {
      const { json } = await service.call(ann, path);
      return json['embedding_profile_id'] === 'other-profile';
    });
    expect(await find(ann, 'moved')).toEqual(inEachMode('travel'));
    await until('the first version is removed', async () => {
      const rows = await sql`
        select from retrieval.opensearch_places
        where collection_id = ${path.slice(-36)} and version = 1 and left_at is not null`;
      return rows.length > 0;
    });
    const rest = { query: { term: { partition: `${path.slice(-36)}/1` } } };
    const counted = await fetch(new URL(`/${before?.prefix}-*/_count`, server.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(rest),
    });
    expect(await counted.json()).toMatchObject({ count: 0 });
  });

  test('a deleted collection leaves no entries in OpenSearch, and the index is deleted with the last collection of a tenant', async () => {
    const before = await indices();
    const eve = { user: 'eve', tenant: 'globex' };
    const body = { name: 'alone', visibility: 'public', embedding_profile_id: 'test-profile' };
    const id = (await service.call(eve, '/v1/collections', body)).json['collection_id'] as string;
    await service.ingest(eve, [
      documentOf('alone', 'travel', 'Hotels.', { tenant_id: 'globex', acl: { groups: ['all'] } }),
    ]);
    expect(await find({ ...eve, groups: ['all'] }, 'alone')).toEqual(inEachMode('travel'));
    expect(await indices()).toHaveLength(before.length + 1);
    expect((await service.send(eve, 'DELETE', `/v1/collections/${id}`)).status).toBe(202);
    await until('its index is removed', async () => (await indices()).join() === before.join());
    const { sql } = opened.database;
    await until('its place is left', async () => {
      const rows = await sql`
        select from retrieval.opensearch_places where collection_id = ${id} and left_at is not null`;
      return rows.length === 1;
    });
  });

  test('while OpenSearch is down queries get 503 and documents are ingested; queries find them after OpenSearch recovers', async () => {
    await create('outage');
    await service.ingest(ann, [documentOf('outage', 'travel', 'Hotels cost at most 180 euros.')]);
    expect(await find(ann, 'outage')).toEqual(inEachMode('travel'));
    await server.kill();
    try {
      for (const mode of modes) {
        const { status, json, headers } = await ask(ann, 'outage', mode);
        expect([status, json['code'], headers.get('retry-after')]).toEqual([503, 'unavailable', '1']);
      }
      expect((await service.call(ann, '/health')).json).toMatchObject({ components: { opensearch: 'degraded' } });
      const jobs = await service.ingest(ann, [documentOf('outage', 'more', 'More hotels.')]);
      expect(jobs.map(({ status }) => status)).toEqual(['DONE']);
      await service.ingest(ann, [documentOf('outage', 'travel', '', { op: 'delete', content: undefined })]);
    } finally {
      await server.start();
    }
    expect(await find(ann, 'outage')).toEqual(inEachMode('more'));
    await until(
      'the service is healthy again',
      async () => (await service.call(ann, '/health')).json['status'] === 'ok',
    );
  });

  test('while OpenSearch is suspended a query gets 503 and no stale answer', async () => {
    await create('frozen');
    await service.ingest(ann, [documentOf('frozen', 'travel', 'Hotels cost at most 180 euros.')]);
    expect(await find(ann, 'frozen')).toEqual(inEachMode('travel'));
    const past: string[] = [];
    server.signal('SIGSTOP');
    try {
      await service.ingest(ann, [documentOf('frozen', 'travel', '', { op: 'delete', content: undefined })]);
      // Threads of the server stop one after another; a thread that still runs can still answer, with the newest state.
      await until('a query is refused', async () => {
        const { status, json } = await ask(ann, 'frozen', 'bm25');
        if (status === 200) past.push(...idsOf(json['items']));
        return status === 503;
      });
    } finally {
      server.signal('SIGCONT');
    }
    expect(past).toEqual([]);
    expect(await find(ann, 'frozen')).toEqual(inEachMode());
  });

  test('lost OpenSearch indices are rebuilt from the database', async () => {
    await create('lost');
    await service.ingest(ann, [documentOf('lost', 'travel', 'Hotels cost at most 180 euros.')]);
    expect(await find(ann, 'lost')).toEqual(inEachMode('travel'));
    for (const index of await indices()) await fetch(new URL(`/${index}`, server.url), { method: 'DELETE' });
    expect(await find(ann, 'lost')).toEqual(inEachMode('travel'));
  });

  test('a restarted service uses the existing index and adds the changes that were committed in between', async () => {
    await create('again');
    await service.ingest(ann, [documentOf('again', 'travel', 'Hotels cost at most 180 euros.')]);
    expect(await find(ann, 'again')).toEqual(inEachMode('travel'));
    const before = await indices();
    await service[Symbol.asyncDispose]();
    service = await start(opened);
    expect(await find(ann, 'again')).toEqual(inEachMode('travel'));
    await using second = await start(opened);
    await service.ingest(ann, [documentOf('again', 'plans', 'Hotels of the board.')]);
    expect(await find(ann, 'again', second)).toEqual(inEachMode('plans', 'travel'));
    expect(await find(ann, 'again')).toEqual(inEachMode('plans', 'travel'));
    expect(await indices()).toEqual(before);
  });

  test('a service on a copy of the database builds its own indices, and neither service sees data of the other', async () => {
    await create('copied');
    await service.ingest(ann, [documentOf('copied', 'travel', 'Hotels cost at most 180 euros.')]);
    expect(await find(ann, 'copied')).toEqual(inEachMode('travel'));
    await service[Symbol.asyncDispose]();
    await using copy = await opened.copy();
    service = await start(opened);
    await using restored = await start(copy);
    await service.ingest(ann, [documentOf('copied', 'original', 'Hotels of the original.')]);
    await restored.ingest(ann, [documentOf('copied', 'restored', 'Hotels of the copy.')]);
    expect(await find(ann, 'copied', restored)).toEqual(inEachMode('restored', 'travel'));
    expect(await find(ann, 'copied')).toEqual(inEachMode('original', 'travel'));
  });
});
