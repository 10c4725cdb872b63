import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { openEmbeddedIndex } from '#search/adapters/embedded/embedded-index';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import type { TestDatabase } from '#sql/testing/test-server';
import { chunkSource } from '../index/chunk-source.ts';
import { partitionName } from '../index/partition-name.ts';
import { estimateIndexBytes } from '../ingest/submit/check-index-room.ts';
import { scriptedModels, testProfile } from '../ingest/testing/scripted-models.ts';
import { documentOf, type OpenedRetrieval, openRetrieval } from '../testing/open-retrieval.ts';
import { type RetrievalParts, startRetrieval } from '../testing/start-retrieval.ts';

const ann = { user: 'ann', groups: ['staff'] };
const other = { ...ann, tenant: 'other' };

describe.skipIf(missingPostgres !== undefined)(onPostgres('quotas of a tenant'), () => {
  let service: OpenedRetrieval;
  let held = Promise.withResolvers<void>();
  const submit = async (ids: readonly string[], more: object = {}, caller: typeof ann & { tenant?: string } = ann) => {
    const documents = ids.map((id) => documentOf('handbook', id, 'A text.', more));
    const { status, json, headers } = await service.call(caller, '/v1/documents:submit', { documents });
    return { status, code: json['code'], retryAfter: headers.get('retry-after') };
  };
  const accepted = { status: 202, code: undefined, retryAfter: null };
  const refused = { status: 429, code: 'rate_limited', retryAfter: '1' };
  const remove = { op: 'delete', content: undefined };

  beforeAll(async () => {
    held.resolve();
    service = await openRetrieval({
      overrides: { models: scriptedModels(() => held.promise) },
      config: { tenantQuota: { collections: 2, documents: 4, openJobs: 3, bytes: 2 ** 40 } },
    });
    for (const caller of [ann, other]) {
      const body = { name: 'handbook', embedding_profile_id: 'test-profile' };
      expect((await service.call(caller, '/v1/collections', body)).status).toBe(201);
    }
  });
  afterAll(async () => {
    held.resolve();
    await service?.[Symbol.asyncDispose]();
  });

  test('a collection beyond the quota is refused with 429, a collection of another tenant is not, and a deleted collection no longer counts', async () => {
    const create = async (name: string, caller: typeof ann & { tenant?: string } = ann) => {
      const body = { name, embedding_profile_id: 'test-profile' };
      const { status, json } = await service.call(caller, '/v1/collections', body);
      return { status, code: json['code'], id: json['collection_id'] };
    };
    const second = await create('second');
    expect(second.status).toBe(201);
    expect(await create('third')).toEqual({ status: 429, code: 'rate_limited', id: undefined });
    expect((await create('second', other)).status).toBe(201);
    expect((await service.send(ann, 'DELETE', `/v1/collections/${second.id}`)).status).toBe(202);
    expect((await create('third')).status).toBe(201);
  });

  test('a submit that exceeds the quota of open jobs is answered 429, and a submit that reaches it is accepted', async () => {
    held = Promise.withResolvers();
    expect(await submit(['a', 'b', 'c', 'd'])).toEqual(refused);
    const same = { content_hash: 'same', idempotency_key: 'same' };
    expect(await submit(['a', 'b'], same)).toEqual(accepted);
    expect(await submit(['c', 'd'])).toEqual(refused);
    expect(await submit(['c'], same)).toEqual(accepted);
    expect(await submit(['d'])).toEqual(refused);
    const statuses = async (ids: readonly string[]) => {
      const documents = ids.map((id) => documentOf('handbook', id, 'A text.', same));
      const { json } = await service.call(ann, '/v1/documents:submit', { documents });
      return (json['jobs'] as readonly { status: string }[] | undefined)?.map(({ status }) => status);
    };
    expect(await statuses(['a', 'c', 'a'])).toEqual(['DEDUPLICATED', 'DEDUPLICATED', 'DEDUPLICATED']);
    expect(await submit(['a', 'd'], same)).toEqual(refused);
    expect(await submit(['a'], remove)).toEqual(accepted);
    // The deletion of a document that was never submitted counts.
    expect(await submit(['never'], remove)).toEqual(refused);
    // After the deletion, the same upsert is a new job.
    expect(await submit(['a'], same)).toEqual(refused);
    expect(await submit(['a', 'b', 'c'], { tenant_id: 'other' }, other)).toEqual(accepted);
    held.resolve();
    await until('no job is open', async () => {
      const { json } = await service.call(ann, '/v1/jobs?collection=handbook');
      return (json['items'] as readonly { status: string }[]).every(({ status }) => status === 'DONE');
    });
  });

  test('new documents beyond the quota are refused; existing documents can be replaced and removed', async () => {
    await service.ingest(
      ann,
      ['a', 'b'].map((id) => documentOf('handbook', id, 'A text.')),
    );
    await service.ingest(
      ann,
      ['c', 'd'].map((id) => documentOf('handbook', id, 'A text.')),
    );
    expect(await submit(['e'])).toEqual(refused);
    await service.ingest(ann, [documentOf('handbook', 'a', 'Another text.')]);
    expect(await submit(['a', 'e'])).toEqual(refused);
    await service.ingest(ann, [documentOf('handbook', 'd', '', remove)]);
    expect(await submit(['e'])).toEqual(accepted);
  });
});

describe.skipIf(missingPostgres !== undefined)(onPostgres('bounds of bytes'), () => {
  const boundText = 'A text of some words that fills a part of what a tenant or an index may have. '.repeat(12);
  const openWith = async (config: NonNullable<RetrievalParts['config']>, database: TestDatabase) => {
    const service = await startRetrieval(database, { config });
    await service.call(ann, '/v1/collections', { name: 'handbook', embedding_profile_id: 'test-profile' });
    return service;
  };
  const submit = async (service: Pick<OpenedRetrieval, 'call'>, id: string, more: object = {}) => {
    const documents = [documentOf('handbook', id, boundText, more)];
    const { status, json, headers } = await service.call(ann, '/v1/documents:submit', { documents });
    return [status, json['code'], headers.get('retry-after')];
  };
  const refusals = async ({ adminUrl }: { readonly adminUrl: string }, quota: string) => {
    const text = await (await fetch(`${adminUrl}/metrics`)).text();
    const line = text.split('\n').find((one) => one.includes('quota_refusals_total{') && one.includes(`"${quota}"`));
    return Number(line?.split(' ').at(-1));
  };
  const remove = { op: 'delete', content: undefined };

  test('a submit that exceeds the bytes of a tenant is answered 429, and a submit that reaches them is accepted', async () => {
    await using opened = await openTestDatabase();
    const { sql } = opened.database;
    const stored = async () => {
      const [row] = await sql<{ bytes: number }[]>`
        select (select sum(text_bytes) from retrieval.collections)::float8
          + (select coalesce(sum(payload_bytes), 0) from retrieval.jobs where staged)::float8 as bytes`;
      return row?.bytes as number;
    };
    {
      await using measured = await openWith({}, opened);
      await measured.ingest(ann, [documentOf('handbook', 'a', boundText)]);
      await until('nothing is staged', async () => (await sql`select 1 from retrieval.jobs where staged`).length === 0);
    }
    const ofOne = await stored();
    expect(ofOne).toBeGreaterThan(boundText.length);
    const [{ payload } = { payload: 0 }] = await sql<{ payload: number }[]>`
      select payload_bytes::int as payload from retrieval.jobs limit 1`;
    const quotaOf = (bytes: number) => ({ tenantQuota: { collections: 100, documents: 100, openJobs: 100, bytes } });
    await using below = await openWith({ ...quotaOf(ofOne + payload - 1), role: 'api' }, opened);
    expect(await submit(below, 'b')).toEqual([429, 'rate_limited', '1']);
    expect(await refusals(below, 'bytes')).toBe(1);
    await using within = await openWith(quotaOf(ofOne + payload), opened);
    expect(await submit(within, 'b')).toEqual([202, undefined, null]);
    expect(await submit(within, 'c')).toEqual([429, 'rate_limited', '1']);
    expect(await submit(within, 'a', remove)).toEqual([202, undefined, null]);
    await until('only the second document is left', async () => (await stored()) === ofOne);
    expect(await submit(within, 'c')).toEqual([202, undefined, null]);
  });

  test('the bytes that a content_ref names count, and without them the submit is accepted', async () => {
    await using opened = await openTestDatabase();
    const tenantQuota = { collections: 100, documents: 100, openJobs: 100, bytes: 1_000_000 };
    await using service = await openWith({ tenantQuota, role: 'api' }, opened);
    const hash = 'a'.repeat(64);
    const named = (bytes?: number) => ({
      content: undefined,
      content_ref: { uri: 'https://files.example/a', content_hash: hash, ...(bytes === undefined ? {} : { bytes }) },
      content_hash: hash,
    });
    expect(await submit(service, 'a', named(1_000_000))).toEqual([429, 'rate_limited', '1']);
    expect(await submit(service, 'a', named(990_000))).toEqual([202, undefined, null]);
    expect(await submit(service, 'b', named())).toEqual([202, undefined, null]);
  });

  test('a collection that fills its share of the index accepts no documents, and deletions are accepted', async () => {
    await using opened = await openTestDatabase();
    await using measured = await openWith({}, opened);
    await measured.ingest(ann, [documentOf('handbook', 'a', boundText)]);
    const [row] = await opened.database.sql<{ chunks: number; bytes: number }[]>`
      select chunk_count as chunks, text_bytes::int as bytes from retrieval.collections`;
    const needed = estimateIndexBytes({ chunks: row?.chunks ?? 0, textBytes: row?.bytes ?? 0 }, testProfile.dimension);
    const boundOf = (share: number) => ({ indexBytes: Math.ceil((share * 3) / 2), role: 'api' as const });
    await using full = await openWith(boundOf(needed), opened);
    expect(await submit(full, 'b')).toEqual([409, 'index_full', null]);
    expect(await refusals(full, 'index')).toBe(1);
    await using roomy = await openWith(boundOf(needed + 1), opened);
    expect(await submit(roomy, 'b')).toEqual([202, undefined, null]);
    expect(await submit(full, 'a', remove)).toEqual([202, undefined, null]);
  });

  test('a reindex to longer vectors that fill the share of the index is refused, and a reindex to equally long vectors is built', async () => {
    await using opened = await openTestDatabase();
    {
      await using measured = await openWith({}, opened);
      await measured.ingest(ann, [documentOf('handbook', 'a', boundText)]);
    }
    const [row] = await opened.database.sql<{ id: string; chunks: number; bytes: number }[]>`
      select collection_id as id, chunk_count as chunks, text_bytes::int as bytes from retrieval.collections`;
    const contents = { chunks: row?.chunks ?? 0, textBytes: row?.bytes ?? 0 };
    const needed = estimateIndexBytes(contents, 64 * testProfile.dimension);
    const boundOf = (share: number) => ({ indexBytes: Math.ceil((share * 3) / 2), role: 'api' as const });
    const reindex = async (service: Pick<OpenedRetrieval, 'call'>, profile: string) => {
      const body = { embedding_profile_id: profile };
      const { status, json } = await service.call(ann, `/v1/collections/${row?.id}:reindex`, body);
      return [status, json['code']];
    };
    await using full = await openWith(boundOf(needed), opened);
    expect(await reindex(full, 'long-profile')).toEqual([409, 'index_full']);
    expect(await refusals(full, 'index')).toBe(1);
    await using roomy = await openWith(boundOf(needed + 1), opened);
    expect(await reindex(roomy, 'long-profile')).toEqual([202, undefined]);
    // The version that is already built has the same profile, whatever its size.
    expect(await reindex(full, 'long-profile')).toEqual([202, undefined]);
    await opened.database
      .sql`update retrieval.index_versions set state = 'failed', failure_code = 'x' where state = 'building'`;
    await using tiny = await openWith(boundOf(1), opened);
    expect(await reindex(tiny, 'other-profile')).toEqual([202, undefined]);
  });

  test('the estimate is not less than what the index needs for documents with many words and labels', async () => {
    await using opened = await openTestDatabase();
    await using service = await openWith({}, opened);
    const words = (no: number) =>
      Array.from({ length: 5 + 40 * (no % 7) }, (_, at) => `word${(no * at) % 97} слово${at}`);
    const documents = Array.from({ length: 40 }, (_, no) =>
      documentOf('handbook', `doc-${no}`, words(no).join(' '), {
        metadata: no % 2 === 0 ? {} : { source: `folder ${no}`, tags: ['a', `tag ${no}`], depth: no },
        acl: { groups: ['staff', `group ${no}`] },
      }),
    );
    for (let at = 0; at < documents.length; at += 10) await service.ingest(ann, documents.slice(at, at + 10));
    const [row] = await opened.database.sql<{ id: string; newest: string; chunks: number; bytes: number }[]>`
      select collection_id as id, change_no as newest, chunk_count as chunks, text_bytes::int as bytes
      from retrieval.collections`;
    const source = chunkSource(opened.database);
    await using index = openEmbeddedIndex({ source, mostBytes: 2 ** 30 });
    await index.candidates({
      partition: partitionName({ collectionId: row?.id as string, version: 1 }),
      reflects: BigInt(row?.newest as string),
      labels: 'every',
      legs: [{ kind: 'bm25', terms: ['word'] }],
      window: 5,
    });
    const estimate = estimateIndexBytes(
      { chunks: row?.chunks ?? 0, textBytes: row?.bytes ?? 0 },
      testProfile.dimension,
    );
    const vectorPage = 65_536;
    expect(index.bytes() - vectorPage).toBeLessThanOrEqual(estimate);
    expect(estimate).toBeLessThan(4 * index.bytes());
  });
});
