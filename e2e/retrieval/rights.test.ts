import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPostgresRelations } from '#relations/adapters/postgres/postgres-relations';
import { controlPlane } from '#relations/model';
import type { Relations } from '#relations/ports';
import { userSubject } from '#relations/subject';
import { collectionObject, groupObject } from '#relations/tenant-object';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import {
  documentOf,
  type OpenedRetrieval,
  startRetrieval,
  type TestCaller,
} from '../../dataplane/retrieval/testing/start-retrieval.ts';
import { verifies } from '../support/verifies.ts';
import { expectNoTraceOfHidden } from './hidden-documents.ts';

const [ann, bob, eve] = [{ user: 'ann' }, { user: 'bob' }, { user: 'eve' }];
const unknown = '0190b0c2-7d3b-7a54-9a55-000000000001';

describe.skipIf(missingPostgres !== undefined)(onPostgres('rights of the retrieval service'), () => {
  let opened: TestDatabase;
  let service: OpenedRetrieval;
  let relations: Relations;
  let made = 0;
  beforeAll(async () => {
    opened = await openTestDatabase();
    service = await startRetrieval(opened);
    relations = await openPostgresRelations(opened.database);
  });
  afterAll(async () => {
    await service?.[Symbol.asyncDispose]();
    await opened?.[Symbol.asyncDispose]();
  });

  type Made = { readonly id: string; readonly name: string };
  async function create(more: object = {}, owner: TestCaller = ann): Promise<Made> {
    made += 1;
    const body = { name: `collection-${made}`, embedding_profile_id: 'test-profile', ...more };
    const { status, json } = await service.call(owner, '/v1/collections', body);
    expect(status, JSON.stringify(json)).toBe(201);
    return { id: json['collection_id'] as string, name: body.name };
  }
  const at = ({ id }: Made, rest: string): string => `/v1/collections/${id}${rest}`;
  const post = async (caller: TestCaller, path: string, body: unknown) =>
    (await service.call(caller, path, body)).status;
  async function find(caller: TestCaller, { id }: Pick<Made, 'id'>): Promise<number | readonly string[]> {
    const query = { collection: id, text: 'words', mode: 'bm25', top_k: 100 };
    const { status, json } = await service.call(caller, '/v1/query', query);
    if (status !== 200) return status;
    return (json['items'] as readonly { doc_id: string }[]).map(({ doc_id }) => doc_id).sort();
  }
  const fill = (where: Made, docId: string, acl: object | undefined) =>
    service.ingest(ann, [documentOf(where.name, docId, `words of ${docId}`, { acl })]);

  verifies(
    [
      'retrieval:readers:user',
      'retrieval:readers:owner-only',
      'retrieval:collections-create:caller-owner',
      'retrieval:query:access-checked',
      'retrieval:authz:search-needs-read',
      'retrieval:authz:pack-needs-read',
      'retrieval:error:forbidden',
    ],
    'only the owner of a collection can grant a user the right to read',
    async () => {
      const where = await create();
      const pack = { collection: where.id, text: 'words', mode: 'bm25', token_budget: 100 };
      expect([await find(bob, where), await post(bob, '/v1/retrieve_and_pack', pack)]).toEqual([403, 403]);
      expect(await post(ann, at(where, '/readers'), { user_id: 'bob' })).toBe(200);
      expect([await find(bob, where), await post(bob, '/v1/retrieve_and_pack', pack)]).toEqual([[], 200]);
      await post(ann, at(where, '/grants'), { relation: 'writer', user_id: 'wim' });
      for (const caller of [bob, { user: 'wim' }, eve]) {
        expect(await post(caller, at(where, '/readers'), { user_id: 'eve' })).toBe(403);
      }
      expect(await find(eve, where)).toBe(403);
    },
  );

  verifies(
    ['retrieval:readers:exactly-one'],
    'a reader grant with both a user and an agent, or with neither, is refused and grants nothing',
    async () => {
      const where = await create();
      for (const body of [
        {},
        { user_id: 'bob', agent_id: 'helper' },
        { user_id: '' },
        { user_id: 'bob', group: 'g' },
      ]) {
        const { status, json } = await service.call(ann, at(where, '/readers'), body);
        expect([status, json['code']]).toEqual([400, 'invalid_document']);
      }
      const { json } = await service.call(ann, at(where, '/grants'));
      expect(json).toEqual({ grants: [{ relation: 'owner', user_id: 'ann' }] });
    },
  );

  verifies(
    [
      'retrieval:readers:agent',
      'retrieval:header:agent-id',
      'retrieval:acl:user-not-agent',
      'retrieval:acl:same-agent-two-users',
    ],
    'a grant to an agent opens the collection to the agent, and its users see only documents that they may read themselves',
    async () => {
      const where = await create();
      await fill(where, 'sales', { groups: ['sales'] });
      await fill(where, 'staff', { groups: ['staff'] });
      expect(await post(ann, at(where, '/readers'), { agent_id: 'helper' })).toBe(200);
      const by = (caller: TestCaller) => find({ ...caller, agent: 'helper' }, where);
      expect(await by({ user: 'bob', groups: ['sales'] })).toEqual(['sales']);
      expect(await by({ user: 'eve', groups: ['staff'] })).toEqual(['staff']);
      expect(await by({ user: 'tom' })).toEqual([]);
      expect(await find({ user: 'bob', groups: ['sales'] }, where)).toBe(403);
      expect(await find({ user: 'bob', groups: ['sales'], agent: 'other' }, where)).toBe(403);
    },
  );

  verifies(
    ['retrieval:acl:revoked-next-request', 'retrieval:authz:relationship-service', 'retrieval:role:reader-holders'],
    'a relation that is added to or removed from the relation store takes effect at the next request',
    async () => {
      const where = await create({ acl_model: 'collection' });
      await fill(where, 'one', { groups: ['nobody'] });
      const object = collectionObject('acme', where.id);
      const tuple = {
        subject: userSubject({ issuer: 'development:acme', subject: 'bob' }),
        relation: 'reader',
        object,
      };
      for (let round = 0; round < 3; round += 1) {
        await relations.grant([tuple]);
        expect(await find(bob, where)).toEqual(['one']);
        await relations.revoke([tuple]);
        expect(await find(bob, where)).toBe(403);
      }
      await post(ann, at(where, '/grants'), { relation: 'reader', group: 'staff' });
      expect(await find({ user: 'bob', groups: ['staff'] }, where)).toEqual(['one']);
      await post(ann, at(where, '/grants:revoke'), { relation: 'reader', group: 'staff' });
      expect(await find({ user: 'bob', groups: ['staff'] }, where)).toBe(403);
    },
  );

  verifies(
    ['retrieval:submit:write-right', 'retrieval:role:writer-integration'],
    'writers, including an integration service with write access, can submit; readers are refused',
    async () => {
      const where = await create();
      const submit = (caller: TestCaller) =>
        post(caller, '/v1/documents:submit', { documents: [documentOf(where.name, 'd', 'words')] });
      await post(ann, at(where, '/readers'), { user_id: 'bob' });
      await post(ann, at(where, '/grants'), { relation: 'writer', agent_id: 'importer' });
      expect(await submit(bob)).toBe(403);
      expect(await submit({ user: 'eve', agent: 'importer' })).toBe(202);
      expect(await submit({ user: 'eve', agent: 'other' })).toBe(403);
    },
  );

  verifies(
    [
      'retrieval:visibility:viewer-group',
      'retrieval:collection:acl-model-document',
      'retrieval:header:groups',
      'retrieval:header:principals',
    ],
    'with acl_model document a reader sees the documents of own groups and principals only',
    async () => {
      const where = await create();
      await fill(where, 'group', { groups: ['sales', 'staff'] });
      await fill(where, 'person', { principals: ['eve'] });
      await post(ann, at(where, '/readers'), { user_id: 'bob' });
      await post(ann, at(where, '/readers'), { user_id: 'eve' });
      expect(await find(bob, where)).toEqual([]);
      expect(await find({ user: 'bob', groups: ['other', 'staff'] }, where)).toEqual(['group']);
      expect(await find({ user: 'bob', principals: ['eve'] }, where)).toEqual(['person']);
      expect(await find(eve, where)).toEqual(['person']);
    },
  );

  verifies(
    ['retrieval:visibility:inherited-from-parent', 'retrieval:collection:acl-model-collection'],
    'readers of a parent collection see the documents of a child with acl_model collection, until it moves away',
    async () => {
      const parent = await create();
      const child = await create({ acl_model: 'collection', parent_id: parent.id });
      await fill(child, 'one', { groups: ['nobody'] });
      expect(await find(bob, child)).toBe(403);
      await post(ann, at(parent, '/readers'), { user_id: 'bob' });
      expect(await find(bob, child)).toEqual(['one']);
      expect(await post(ann, at(child, ':move'), { parent_id: null })).toBe(200);
      expect(await find(bob, child)).toBe(403);
      expect(await post(ann, at(child, ':move'), { parent_id: child.id })).toBe(400);
      expect(await post(ann, at(child, ':move'), { parent_id: unknown })).toBe(400);
      expect(await post(bob, at(child, ':move'), { parent_id: parent.id })).toBe(403);
      const foreign = await create({}, eve);
      expect(await post(ann, at(child, ':move'), { parent_id: foreign.id })).toBe(403);
    },
  );

  verifies(
    ['retrieval:empty-acl:strictest', 'retrieval:empty-acl:reject', 'retrieval:empty-acl:public'],
    'a document without an access list is refused, visible to its owner only, or public, depending on its collection',
    async () => {
      const rejecting = await create();
      const documents = [documentOf(rejecting.name, 'd', 'words', { acl: { scope: { region: 'eu' } } })];
      expect(await post(ann, '/v1/documents:submit', { documents })).toBe(400);
      const strict = await create({ empty_acl_policy: 'strictest' });
      await fill(strict, 'one', {});
      await post(ann, at(strict, '/readers'), { user_id: 'bob' });
      expect([await find(ann, strict), await find(bob, strict)]).toEqual([['one'], []]);
      const open = await create({ visibility: 'public' });
      await fill(open, 'one', undefined);
      expect([await find(eve, open), await find({ user: 'eve', tenant: 'globex' }, open)]).toEqual([['one'], 404]);
    },
  );

  verifies(
    ['retrieval:query:tenant-filter', 'retrieval:error:not-found', 'retrieval:collections-get:unknown'],
    'collections of another tenant are not visible, even if groups and ids are equal there',
    async () => {
      const where = await create();
      await fill(where, 'one', { groups: ['staff'], principals: ['ann'] });
      const stranger = { user: 'ann', groups: ['staff'], tenant: 'globex' };
      for (const path of [at(where, ''), at(where, '/grants')]) {
        expect((await service.call(stranger, path)).status).toBe(404);
      }
      expect(await find(stranger, where)).toBe(404);
      expect(await post(stranger, at(where, '/readers'), { user_id: 'ann' })).toBe(404);
      expect(await post(stranger, at(where, ':move'), { parent_id: null })).toBe(404);
      const change = { collection: where.id, doc_id: 'one', acl: { groups: ['staff'] } };
      expect(await post(stranger, '/v1/documents:acl', change)).toBe(404);
    },
  );

  test('a changed access list of a document takes effect at the next query, and only writers can change it', async () => {
    const where = await create();
    await fill(where, 'one', { groups: ['staff'] });
    await post(ann, at(where, '/readers'), { user_id: 'bob' });
    const change = (caller: TestCaller, acl: object, docId = 'one') =>
      post(caller, '/v1/documents:acl', { collection: where.name, doc_id: docId, acl });
    expect(await change(bob, { principals: ['bob'] })).toBe(403);
    expect(await change(ann, {})).toBe(400);
    expect(await change(ann, { principals: ['bob'] }, 'absent')).toBe(404);
    expect(await change(ann, { principals: ['bob'] })).toBe(200);
    expect(await find(bob, where)).toEqual(['one']);
    expect(await change(ann, { principals: ['eve'] })).toBe(200);
    expect(await find(bob, where)).toEqual([]);
  });

  test('administrators can change groups of their tenant, and a membership takes effect at the next query', async () => {
    const where = await create();
    await fill(where, 'one', { groups: ['night shift/berlin'] });
    await post(ann, at(where, '/readers'), { user_id: 'bob' });
    const root = userSubject({ issuer: 'development:acme', subject: 'root' });
    await relations.grant([{ subject: root, relation: 'administer', object: controlPlane }]);
    const members = `/v1/groups/${encodeURIComponent('night shift/berlin')}/members`;
    expect(await post(ann, members, { user_id: 'bob' })).toBe(403);
    expect(await post({ user: 'root', tenant: 'globex' }, members, { user_id: 'bob' })).toBe(403);
    expect(await post({ user: 'root' }, members, { user_id: 'bob' })).toBe(200);
    expect(await find(bob, where)).toEqual(['one']);
    expect((await service.call({ user: 'root' }, members)).json).toEqual({ members: [{ user_id: 'bob' }] });
    expect(await post({ user: 'root' }, `${members}:remove`, { user_id: 'bob' })).toBe(200);
    expect(await find(bob, where)).toEqual([]);
    expect(await post({ user: 'root' }, members, { group: 'night shift/berlin' })).toBe(400);
  });

  test('a collection has at most 1,000 grants and a group 1,000 members; one more is refused, and a repeated one is accepted', async () => {
    const where = await create();
    const root = userSubject({ issuer: 'development:acme', subject: 'registrar' });
    const holder = (at: number) => userSubject({ issuer: 'development:acme', subject: `holder-${at}` });
    const fillUp = async (object: string, relation: string, count: number): Promise<void> => {
      for (let first = 0; first < count; first += 100) {
        const length = Math.min(100, count - first);
        await relations.grant(Array.from({ length }, (_, at) => ({ subject: holder(first + at), relation, object })));
      }
    };
    await relations.grant([{ subject: root, relation: 'administer', object: controlPlane }]);
    // The owner also has a grant.
    await fillUp(collectionObject('acme', where.id), 'reader', 998);
    await fillUp(groupObject('acme', 'crowd'), 'member', 999);
    for (const [caller, path, relation] of [
      [ann, at(where, '/grants'), { relation: 'reader' }],
      [{ user: 'registrar' }, '/v1/groups/crowd/members', {}],
    ] as const) {
      const give = (holder: object) => post(caller, path, { ...relation, ...holder });
      expect(await give({ group: 'g'.repeat(513) })).toBe(400);
      expect([await give({ group: 'g'.repeat(512) }), await give({ group: 'one-more' })]).toEqual([200, 400]);
      expect(await give({ user_id: 'holder-1' })).toBe(200);
    }
  });

  test('hidden documents change neither the results nor the scores of callers who may not see them', async () => {
    const [alone, among] = [await create(), await create()];
    const text = (repeats: number): string => `${'words '.repeat(repeats)}${'other text '.repeat(20)}`;
    for (const where of [alone, among]) {
      await post(ann, at(where, '/readers'), { user_id: 'bob' });
      const seen = [1, 2, 3, 4].map((repeats) =>
        documentOf(where.name, `seen-${repeats}`, text(repeats), { acl: { principals: ['bob'] } }),
      );
      await service.ingest(ann, seen);
    }
    const hidden = Array.from({ length: 40 }, (_, place) =>
      documentOf(among.name, `hidden-${place}`, text(5 + place), { acl: { groups: ['board'] } }),
    );
    await service.ingest(ann, hidden);
    for (const top_k of [1, 3, 100]) {
      for (const asked of ['words', 'other words', 'nothing']) {
        const answers = [alone, among].map(async ({ id }) => {
          const query = { collection: id, text: asked, mode: 'bm25', top_k };
          const { status, json } = await service.call(bob, '/v1/query', query, { 'x-trace-id': 'same' });
          const items = (json['items'] as readonly Record<string, unknown>[]).map(({ chunk_id: _id, ...item }) => item);
          return { status, meta: json['meta'], items };
        });
        const [first, second] = await Promise.all(answers);
        expect(second).toEqual(first);
      }
    }
  });

  test('answers and scores are the same with and without documents that are hidden by rights or by their dates', async () => {
    await expectNoTraceOfHidden(service, 'traces');
  });
});
