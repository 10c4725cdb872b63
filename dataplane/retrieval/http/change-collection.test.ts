import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { memoryObjects } from '../ingest/testing/memory-objects.ts';
import { documentOf } from '../testing/open-retrieval.ts';
import { type OpenedRetrieval, startRetrieval, type TestCaller } from '../testing/start-retrieval.ts';

const ann = { user: 'ann', groups: ['staff'] };
const bob = { user: 'bob', groups: ['staff'] };
const profile = { embedding_profile_id: 'test-profile' };

describe.skipIf(missingPostgres !== undefined)(onPostgres('changed and deleted collections'), () => {
  const parts = new AsyncDisposableStack();
  let service: OpenedRetrieval;
  let database: Awaited<ReturnType<typeof openTestDatabase>>;
  let isStoreAway = false;
  const objects = memoryObjects(() => {
    if (isStoreAway) throw new Error('away');
  });

  const create = async (body: object): Promise<string> => {
    const { status, json } = await service.call(ann, '/v1/collections', { ...profile, ...body });
    expect(status).toBe(201);
    return String(json['collection_id']);
  };
  const patch = (caller: TestCaller, id: string, body: object) =>
    service.send(caller, 'PATCH', `/v1/collections/${id}`, body);
  const remove = (caller: TestCaller, id: string) => service.send(caller, 'DELETE', `/v1/collections/${id}`);
  const rowsOf = async (id: string) => {
    const { sql } = database.database;
    const [row] = await sql`
      select (select count(*)::int from retrieval.documents where collection_id = ${id}) as documents,
        (select count(*)::int from retrieval.jobs where collection_id = ${id}) as jobs,
        (select count(*)::int from retrieval.index_versions where collection_id = ${id}) as versions,
        (select count(*)::int from relations.tuples where object like ${`%${id}%`}) as tuples`;
    return row;
  };

  beforeAll(async () => {
    database = parts.use(await openTestDatabase());
    service = parts.use(
      await startRetrieval(database, { overrides: { objects, times: { pollMs: 200, reconcileMs: 200 } } }),
    );
  });
  afterAll(() => parts.disposeAsync());

  test('the owner can change name, description, visibility and defaults; everything else stays unchanged', async () => {
    const id = await create({ name: 'handbook' });
    const before = (await service.call(ann, `/v1/collections/${id}`)).json;
    const change = {
      name: 'rules',
      description: 'Rules',
      visibility: 'public',
      retrieval_defaults: { mode: 'bm25', top_k: 3 },
      empty_acl_policy: 'strictest',
    };
    const { status, json } = await patch(ann, id, change);
    expect(status).toBe(200);
    const defaults = { mode: 'bm25', top_k: 3, rerank_profile_id: null };
    const expected = { ...before, ...change, retrieval_defaults: defaults, updated_at: expect.any(String) };
    expect(json).toEqual(expected);
    expect((await patch(ann, id, { description: '' })).json).toEqual({ ...expected, description: '' });
    expect((await service.call(bob, '/v1/query', { collection: 'rules', text: 'a' })).status).toBe(200);
    expect((await service.call(bob, '/v1/query', { collection: 'handbook', text: 'a' })).status).toBe(404);
  });

  test('only the owner can change or delete a collection, and a collection of another tenant is not found', async () => {
    const id = await create({ name: 'owned', visibility: 'public' });
    for (const [caller, status] of [
      [bob, 403],
      [{ ...ann, tenant: 'other' }, 404],
      [{}, 401],
    ] as const) {
      expect([(await patch(caller, id, { name: 'x' })).status, (await remove(caller, id)).status]).toEqual([
        status,
        status,
      ]);
    }
  });

  test('a change of an immutable member, an empty change, and a change to the name of another collection are refused', async () => {
    const id = await create({ name: 'fixed' });
    await create({ name: 'taken' });
    for (const body of [
      {},
      { acl_model: 'collection' },
      { chunking: {} },
      { embedding_profile_id: 'b' },
      { name: '' },
    ]) {
      expect([body, (await patch(ann, id, body)).status]).toEqual([body, 400]);
    }
    expect(await patch(ann, id, { name: 'taken' })).toMatchObject({
      status: 409,
      json: { code: 'conflict', message: expect.stringContaining('name is the name of another collection') },
    });
    const races = await Promise.all(
      ['fixed', 'taken'].map(async (name) => {
        const { json } = await service.call(ann, '/v1/collections');
        const found = (json as unknown as { name: string; collection_id: string }[]).find((one) => one.name === name);
        return patch(ann, found?.collection_id ?? '', { name: 'same' });
      }),
    );
    expect(races.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  });

  test('a deleted collection is not found by any later request, and its contents are removed even after an outage of the store', async () => {
    const id = await create({ name: 'drafts', visibility: 'public' });
    const documents = Array.from({ length: 3 }, (_, at) => documentOf('drafts', `d${at}`, `A lively otter ${at}.`));
    await service.ingest(ann, documents);
    // There are more documents than one transaction removes.
    await database.database.sql`
      insert into retrieval.documents (tenant, collection_id, doc_id)
      select 'acme', ${id}, 'more-' || n from generate_series(1, 250) n`;
    await service.call(ann, `/v1/collections/${id}/readers`, { user_id: 'bob' });
    isStoreAway = true;
    await service.call(ann, '/v1/documents:submit', { documents: [documentOf('drafts', 'failed', 'x')] });
    expect(await remove(ann, id)).toMatchObject({ status: 202, json: { collection_id: id, status: 'deleted' } });
    isStoreAway = false;
    const query = { collection: 'drafts', text: 'otter', mode: 'bm25' };
    expect((await service.call(ann, '/v1/query', query)).status).toBe(404);
    expect((await service.call(ann, `/v1/collections/${id}`)).status).toBe(404);
    expect((await service.call(ann, `/v1/collections/${id}/documents`)).status).toBe(404);
    expect((await service.call(ann, '/v1/documents:submit', { documents: [documents[0]] })).status).toBe(404);
    expect((await remove(ann, id)).status).toBe(404);
    await until('the contents are removed', async () => {
      const rows = await rowsOf(id);
      return rows?.['versions'] === 0 && rows['documents'] === 0;
    });
    expect(await rowsOf(id)).toEqual({ documents: 0, jobs: 0, versions: 0, tuples: 0 });
    expect(objects.keys().filter((key) => key.includes(id))).toEqual([]);
    const again = await create({ name: 'drafts' });
    expect(again).not.toBe(id);
    expect((await service.call(ann, '/v1/collections', { ...profile, name: 'x', collection_id: id })).status).toBe(409);
  });

  test('a collection with a child can be deleted only after the child', async () => {
    const parent = await create({ name: 'parent' });
    const child = await create({ name: 'child', parent_id: parent });
    expect(await remove(ann, parent)).toMatchObject({ status: 409, json: { code: 'conflict' } });
    expect((await remove(ann, child)).status).toBe(202);
    expect((await remove(ann, parent)).status).toBe(202);
  });
});
