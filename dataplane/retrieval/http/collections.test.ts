import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { verifies } from '../../../e2e/support/verifies.ts';
import { documentOf, type OpenedRetrieval, openRetrieval, type TestCaller } from '../testing/open-retrieval.ts';

const ann = { user: 'ann', groups: ['staff'] };
const bob = { user: 'bob' };
const stranger = { user: 'ann', groups: ['staff'], tenant: 'other' };
const path = '/v1/collections';
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

describe.skipIf(missingPostgres !== undefined)(onPostgres('collections over HTTP'), () => {
  let service: OpenedRetrieval;
  let made = 0;
  const named = (more: object = {}) => {
    made += 1;
    return { name: `collection ${made}`, embedding_profile_id: 'test-profile', ...more };
  };
  const create = async (more: object = {}, caller: TestCaller = ann) => {
    const { status, json } = await service.call(caller, path, named(more));
    if (status !== 201) throw new Error(`the collection was answered ${status}: ${JSON.stringify(json)}`);
    return json as Readonly<Record<string, unknown>> & { readonly collection_id: string; readonly name: string };
  };
  const refused = async (body: object) => {
    const { status, json } = await service.call(ann, path, body);
    return [status, json['code'], json['message']];
  };
  const refusedAt = (place: string) => [400, 'invalid_document', expect.stringContaining(place)];
  const listed = async (caller: TestCaller) => {
    const { status, json } = await service.call(caller, path);
    expect([status, Array.isArray(json)]).toEqual([200, true]);
    return (json as unknown as readonly { readonly collection_id: string }[]).map(({ collection_id }) => collection_id);
  };

  beforeAll(async () => {
    service = await openRetrieval();
  });
  afterAll(() => service?.[Symbol.asyncDispose]());

  verifies(
    [
      'retrieval:collections-create:created',
      'retrieval:collection:id-generated',
      'retrieval:collection:tenant-id',
      'retrieval:collection:name',
      'retrieval:collection:embedding-profile-id',
      'retrieval:collection:created-updated-at',
      'retrieval:collection-state:created',
      'retrieval:collections-create:type-default',
      'retrieval:collections-create:visibility-default',
      'retrieval:collections-create:acl-model-default',
      'retrieval:collections-create:empty-acl-policy-default',
      'retrieval:empty-acl:service-default',
      'retrieval:limits:chunking-default',
      'retrieval:collection:chunking',
      'retrieval:collection:retrieval-defaults',
      'retrieval:collection:active-version',
      'retrieval:collections-get:ok',
    ],
    'a collection created with a name and a profile has every default, and a later read returns the same',
    async () => {
      const created = await create();
      expect(created).toEqual({
        collection_id: expect.stringMatching(uuid),
        tenant_id: 'acme',
        name: created.name,
        description: '',
        collection_type: 'knowledge_base',
        parent_id: null,
        visibility: 'private',
        embedding_profile_id: 'test-profile',
        acl_model: 'document',
        chunking: { strategy: 'recursive_text', size: 800, overlap: 120 },
        retrieval_defaults: { mode: 'hybrid', top_k: 8, rerank_profile_id: null },
        empty_acl_policy: 'reject',
        status: 'created',
        active_version: 1,
        doc_count: 0,
        chunk_count: 0,
        created_at: expect.stringMatching(time),
        updated_at: expect.stringMatching(time),
      });
      expect(await service.call(ann, `${path}/${created.collection_id}`)).toMatchObject({ status: 200, json: created });
    },
  );

  verifies(
    [
      'retrieval:collections-create:id-given',
      'retrieval:collections-create:description-optional',
      'retrieval:collections-create:parent-id-optional',
      'retrieval:collections-create:chunking-optional',
      'retrieval:collections-create:retrieval-defaults-optional',
      'retrieval:collections-create:chunking-strategy',
      'retrieval:collection:description',
      'retrieval:collection:parent-id',
      'retrieval:collection:type',
      'retrieval:collection:visibility',
      'retrieval:collection:acl-model',
      'retrieval:collection:empty-acl-policy',
    ],
    'a collection has the values with which it was created',
    async () => {
      const parent = await create();
      const given = {
        collection_id: randomUUID(),
        description: 'What holds for everybody.',
        collection_type: 'files',
        parent_id: parent.collection_id,
        visibility: 'public',
        acl_model: 'collection',
        chunking: { strategy: 'recursive_text', size: 400, overlap: 40 },
        retrieval_defaults: { mode: 'bm25', top_k: 3, rerank_profile_id: 'exact' },
        empty_acl_policy: 'strictest',
      };
      expect(await create(given)).toMatchObject(given);
    },
  );

  for (const [id, member, values] of [
    ['retrieval:collections-create:type-allowed', 'collection_type', ['knowledge_base', 'documents', 'files']],
    ['retrieval:collections-create:visibility-allowed', 'visibility', ['private', 'public']],
    ['retrieval:collections-create:acl-model-allowed', 'acl_model', ['document', 'collection']],
    ['retrieval:collections-create:empty-acl-policy-allowed', 'empty_acl_policy', ['reject', 'strictest']],
  ] as const) {
    verifies([id], `${member} of a new collection has one of its values, and any other is refused`, async () => {
      for (const value of values) expect(await create({ [member]: value })).toMatchObject({ [member]: value });
      for (const value of ['other', '', 1, null]) {
        expect(await refused(named({ [member]: value }))).toEqual(refusedAt(member));
      }
    });
  }

  verifies(
    [
      'retrieval:collections-create:name-required',
      'retrieval:collections-create:embedding-profile-required',
      'retrieval:collections-create:id-uuid',
      'retrieval:collections-create:parent-id-optional',
      'retrieval:collections-create:description-optional',
    ],
    'a new collection without a name or a profile, or with a member of another type, is refused and the place is named',
    async () => {
      for (const [place, more] of [
        ['name', { name: undefined }],
        ['name', { name: 1 }],
        ['name', { name: '' }],
        ['name', { name: randomUUID() }],
        ['name', { name: 'n'.repeat(256) }],
        ['embedding_profile_id', { embedding_profile_id: undefined }],
        ['embedding_profile_id', { embedding_profile_id: 1 }],
        ['embedding_profile_id', { embedding_profile_id: 'never-approved' }],
        ['collection_id', { collection_id: 'handbook' }],
        ['parent_id', { parent_id: 'handbook' }],
        ['description', { description: 1 }],
        ['description', { description: 'd'.repeat(4_097) }],
        ['chunking.strategy', { chunking: { strategy: 'by_page' } }],
        ['chunking.size', { chunking: { size: 99, overlap: 0 } }],
        ['chunking.size', { chunking: { size: 8_001, overlap: 0 } }],
        ['chunking.overlap', { chunking: { size: 100, overlap: 51 } }],
        ['chunking.overlap', { chunking: { size: 100, overlap: -1 } }],
        ['retrieval_defaults.mode', { retrieval_defaults: { mode: 'fast' } }],
        ['retrieval_defaults.top_k', { retrieval_defaults: { top_k: 0 } }],
        ['retrieval_defaults.top_k', { retrieval_defaults: { top_k: 101 } }],
      ] as const) {
        expect([place, ...(await refused(named(more)))]).toEqual([place, ...refusedAt(place)]);
      }
    },
  );

  test('a collection name of 255 characters, chunks of 100 and of 8,000 characters and an overlap of a half are accepted', async () => {
    await create({ name: 'n'.repeat(255), description: 'd'.repeat(4_096) });
    await create({ chunking: { size: 100, overlap: 50 }, retrieval_defaults: { top_k: 1 } });
    await create({ chunking: { size: 8_000, overlap: 0 }, retrieval_defaults: { top_k: 100 } });
  });

  test('a name of another collection of the tenant is a conflict, and another tenant may use it', async () => {
    const { name } = await create();
    const answer = await service.call(ann, path, named({ name }));
    expect([answer.status, answer.json['code']]).toEqual([409, 'conflict']);
    expect(answer.json['message']).toMatch(/name is the name of another collection: choose another one/);
    const both = await service.call(ann, path, named({ name, collection_id: (await create())['collection_id'] }));
    expect(both.json['message']).toMatch(/name is the name of another collection: choose another one/);
    expect(await create({ name }, stranger)).toMatchObject({ name, tenant_id: 'other' });
  });

  test('a collection_id that exists is a conflict, even for another tenant, and the answer reveals nothing about the collection', async () => {
    const { collection_id } = await create();
    const answers = await Promise.all(
      [ann, stranger].map(async (caller) => service.call(caller, path, named({ collection_id }))),
    );
    expect(answers.map(({ status, json }) => [status, json['code']])).toEqual([
      [409, 'conflict'],
      [409, 'conflict'],
    ]);
    for (const { json } of answers) {
      expect(json['message']).toMatch(/collection_id is or was the id of a collection: choose another one/);
    }
  });

  verifies(
    ['retrieval:collections-create:user-identity-required', 'retrieval:header:tenant-id'],
    'a request without a user or without a tenant is refused with 401, and nothing is created',
    async () => {
      const body = named();
      expect(await service.call({}, path, body)).toMatchObject({ status: 401, json: { code: 'unauthorized' } });
      const answer = await fetch(`${service.url}${path}`, { headers: { 'x-user-id': 'ann' } });
      expect([answer.status, await answer.json()]).toMatchObject([401, { code: 'unauthorized' }]);
      expect(await service.call(ann, path, body)).toMatchObject({ status: 201 });
    },
  );

  verifies(
    ['retrieval:role:owner-registered'],
    'the creator of a collection is its owner and may grant read to another user',
    async () => {
      const { collection_id } = await create();
      const readers = `${path}/${collection_id}/readers`;
      expect(await service.call(bob, readers, { user_id: 'bob' })).toMatchObject({ status: 403 });
      expect(await service.call(ann, readers, { user_id: 'bob' })).toMatchObject({ status: 200 });
      expect(await service.call(bob, `${path}/${collection_id}`)).toMatchObject({ status: 200 });
    },
  );

  verifies(
    [
      'retrieval:collections-get:unknown',
      'retrieval:error:not-found',
      'retrieval:error:forbidden',
      'retrieval:error-body:code-listed',
    ],
    'an unknown collection and one of another tenant are answered 404, and one without a right 403',
    async () => {
      const { collection_id } = await create();
      const answers = await Promise.all([
        service.call(ann, `${path}/${randomUUID()}`),
        service.call(ann, `${path}/handbook`),
        service.call(stranger, `${path}/${collection_id}`),
        service.call(bob, `${path}/${collection_id}`),
      ]);
      expect(answers.map(({ status, json }) => [status, json['code']])).toEqual([
        [404, 'not_found'],
        [404, 'not_found'],
        [404, 'not_found'],
        [403, 'forbidden'],
      ]);
    },
  );

  verifies(
    [
      'retrieval:collections-list:ok',
      'retrieval:collections-list:available',
      'retrieval:collections-list:unavailable-absent',
    ],
    'the list contains own and public collections of the tenant, and no others',
    async () => {
      const own = await create();
      const open = await create({ visibility: 'public' });
      expect(await listed(ann)).toEqual(expect.arrayContaining([own.collection_id, open.collection_id]));
      const ofBob = await listed(bob);
      expect([ofBob.includes(own.collection_id), ofBob.includes(open.collection_id)]).toEqual([false, true]);
      expect(await listed(stranger)).not.toEqual(expect.arrayContaining([open.collection_id]));
    },
  );

  test('pages of collections in the order of names contain every readable collection once, and no other', async () => {
    const tenant = 'in-pages';
    const [owner, other] = [
      { user: 'ann', tenant },
      { user: 'bob', tenant },
    ];
    for (const name of ['a b', 'Zoo', 'é', 'a&b']) await create({ name }, owner);
    await create({ name: 'b public', visibility: 'public' }, other);
    await create({ name: 'c hidden' }, other);
    const read = async (query: Readonly<Record<string, string>>) => {
      const { status, json } = await service.call(owner, `${path}?${new URLSearchParams(query)}`);
      expect(status).toBe(200);
      return (json as unknown as readonly { readonly name: string }[]).map(({ name }) => name);
    };
    const names = ['Zoo', 'a b', 'a&b', 'b public', 'é'];
    expect(await read({})).toEqual(names);
    for (const limit of ['1', '2', '5', '200']) {
      const found: string[] = [];
      for (let page: readonly string[] | undefined; page === undefined || page.length === Number(limit); ) {
        const after = found.at(-1);
        page = await read({ limit, ...(after === undefined ? {} : { after }) });
        found.push(...page);
      }
      expect(found).toEqual(names);
    }
    expect(await read({ after: 'c hidden' })).toEqual(['é']);
    expect(await read({ after: 'a' })).toEqual(['a b', 'a&b', 'b public', 'é']);
  });

  test.each([
    ['limit=0', 'limit'],
    ['limit=201', 'limit'],
    ['limit=ten', 'limit'],
    ['after=', 'after'],
    ['after=a%00b', 'after'],
    [`after=${'a'.repeat(256)}`, 'after'],
  ])('a list of collections with %s is refused with the name of the parameter', async (query, name) => {
    const { status, json } = await service.call(ann, `${path}?${query}`);
    expect([status, json['code'], json['message']]).toEqual([400, 'invalid_document', expect.stringContaining(name)]);
  });

  test('the longest name of a collection is accepted as the place after which a list begins', async () => {
    expect((await service.call(ann, `${path}?after=${'a'.repeat(255)}`)).status).toBe(200);
  });

  verifies(
    [
      'retrieval:collection:doc-count',
      'retrieval:collection:chunk-count',
      'retrieval:collection-state:ready',
      'retrieval:collection:status',
      'retrieval:submit:deduplicated',
      'retrieval:submit:deduplicated-no-new-job',
      'retrieval:submit:deduplicated-no-duplicate',
      'retrieval:document:doc-id-unique',
      'retrieval:document:op-upsert',
      'retrieval:document:op-delete',
    ],
    'counts follow documents: plus one for a new one, unchanged for a repeated or replaced one, minus one for a deleted one',
    async () => {
      const { collection_id, name } = await create();
      const state = async () => {
        const { json } = await service.call(ann, `${path}/${collection_id}`);
        return [json['status'], json['doc_count'], json['chunk_count']];
      };
      const found = async (text: string) => {
        const { json } = await service.call(ann, '/v1/query', { collection: name, text, mode: 'bm25' });
        return (json['items'] as readonly { readonly doc_id: string }[]).map(({ doc_id }) => doc_id);
      };
      const first = documentOf(name, 'one', 'The early lighthouse.');
      const [job] = await service.ingest(ann, [first]);
      expect(await state()).toEqual(['ready', 1, 1]);
      const again = await service.call(ann, '/v1/documents:submit', { documents: [first] });
      expect(again.json).toEqual({ jobs: [{ doc_id: 'one', job_id: job?.job_id, status: 'DEDUPLICATED' }] });
      await service.ingest(ann, [documentOf(name, 'one', 'The late windmill.'), documentOf(name, 'two', 'A bridge.')]);
      expect(await state()).toEqual(['ready', 2, 2]);
      expect([await found('lighthouse'), await found('windmill')]).toEqual([[], ['one']]);
      await service.ingest(ann, [documentOf(name, 'one', '', { op: 'delete', content: undefined })]);
      expect(await state()).toEqual(['ready', 1, 1]);
      expect([await found('windmill'), await found('bridge')]).toEqual([[], ['two']]);
    },
  );
});
