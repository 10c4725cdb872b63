import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openOpenFgaRelations } from '#relations/adapters/openfga/openfga-relations';
import { openStoreRegistry } from '#relations/adapters/openfga/store-registry';
import type { Relations } from '#relations/ports';
import { userSubject } from '#relations/subject';
import { collectionObject } from '#relations/tenant-object';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import {
  documentOf,
  type OpenedRetrieval,
  startRetrieval,
  type TestCaller,
} from '../../dataplane/retrieval/testing/start-retrieval.ts';
import { verifies } from '../support/verifies.ts';
import { missingOpenFga, type OpenFgaServer, onOpenFga, startOpenFga } from './openfga-server.ts';

const isMissing = missingOpenFga !== undefined || missingPostgres !== undefined;
const [ann, bob, eve] = [{ user: 'ann' }, { user: 'bob' }, { user: 'eve' }];

describe.skipIf(isMissing)(onPostgres(onOpenFga('the retrieval service with rights in OpenFGA')), () => {
  let server: OpenFgaServer;
  let opened: TestDatabase;
  let service: OpenedRetrieval;
  let relations: Relations;
  let id: string;
  beforeAll(async () => {
    server = await startOpenFga();
    opened = await openTestDatabase();
    const store = { url: server.url, storeName: 'rights' };
    service = await startRetrieval(opened, { config: { relations: { kind: 'openfga', ...store } } });
    relations = await openOpenFgaRelations({ ...store, stores: await openStoreRegistry(opened.database) });
    const body = { name: 'handbook', embedding_profile_id: 'test-profile' };
    id = (await service.call(ann, '/v1/collections', body)).json['collection_id'] as string;
    const texts = { sales: { groups: ['sales'] }, staff: { principals: ['bob', 'eve'] } };
    const documents = Object.entries(texts).map(([name, acl]) => documentOf('handbook', name, 'some words', { acl }));
    await service.ingest(ann, documents);
  });
  afterAll(async () => {
    await service?.[Symbol.asyncDispose]();
    await opened?.[Symbol.asyncDispose]();
    await server?.end();
  });

  const post = async (caller: TestCaller, path: string, body: object) =>
    (await service.call(caller, path, body)).status;
  async function find(caller: TestCaller): Promise<number | readonly string[]> {
    const { status, json } = await service.call(caller, '/v1/query', { collection: id, text: 'words', mode: 'bm25' });
    if (status !== 200) return status;
    return (json['items'] as readonly { readonly doc_id: string }[]).map(({ doc_id }) => doc_id).sort();
  }
  const pack = (caller: TestCaller) =>
    post(caller, '/v1/retrieve_and_pack', { collection: id, text: 'words', mode: 'bm25', token_budget: 100 });

  verifies(
    [
      'retrieval:readers:user',
      'retrieval:readers:agent',
      'retrieval:readers:owner-only',
      'retrieval:query:access-checked',
      'retrieval:authz:search-needs-read',
      'retrieval:authz:pack-needs-read',
      'retrieval:acl:user-not-agent',
      'retrieval:acl:same-agent-two-users',
    ],
    'with OpenFGA the owner opens a collection to users and agents, and each user finds what they may read themselves',
    async () => {
      const readers = `/v1/collections/${id}/readers`;
      expect([await find(bob), await pack(bob), await post(bob, readers, { user_id: 'bob' })]).toEqual([403, 403, 403]);
      expect(await post(ann, readers, { user_id: 'bob' })).toBe(200);
      expect([await find(bob), await pack(bob), await post(bob, readers, { user_id: 'eve' })]).toEqual([
        ['staff'],
        200,
        403,
      ]);
      expect(await post(ann, readers, { agent_id: 'helper' })).toBe(200);
      expect(await find({ user: 'tom', groups: ['sales'], agent: 'helper' })).toEqual(['sales']);
      expect(await find({ ...eve, agent: 'helper' })).toEqual(['staff']);
      expect([await find(eve), await find({ ...eve, agent: 'other' })]).toEqual([403, 403]);
    },
  );

  verifies(
    ['retrieval:authz:relationship-service', 'retrieval:acl:revoked-next-request'],
    'a relation that is written to OpenFGA opens a collection at the next request, and its removal closes it',
    async () => {
      const tuple = {
        subject: userSubject({ issuer: 'development:acme', subject: 'eve' }),
        relation: 'reader',
        object: collectionObject('acme', id),
      };
      expect(await find(eve)).toBe(403);
      await relations.grant([tuple]);
      expect(await find(eve)).toEqual(['staff']);
      await relations.revoke([tuple]);
      expect(await find(eve)).toBe(403);
    },
  );

  test('a moved collection has the readers of its new parent at the next request, and one audit entry for each move', async () => {
    const made = async (name: string) =>
      (await service.call(ann, '/v1/collections', { name, embedding_profile_id: 'test-profile' })).json[
        'collection_id'
      ] as string;
    const [first, second, child] = [await made('first'), await made('second'), await made('child')];
    expect(await post(ann, `/v1/collections/${second}/readers`, { user_id: 'tim' })).toBe(200);
    const reads = async () => (await service.call({ user: 'tim' }, `/v1/collections/${child}`)).status;
    const move = (parent: string | null) => post(ann, `/v1/collections/${child}:move`, { parent_id: parent });
    const seen = [];
    for (const parent of [first, second, first, null]) seen.push([await move(parent), await reads()]);
    expect(seen).toEqual([
      [200, 403],
      [200, 200],
      [200, 403],
      [200, 403],
    ]);
    const entries = await opened.database.sql`
      select from audit.entries where chain = 'retrieval' and content::json ->> 'action' = 'collection.move'`;
    expect(entries).toHaveLength(4);
    expect(await opened.database.sql`select from retrieval.collection_moves`).toHaveLength(0);
  });

  verifies(
    ['retrieval:authz:fail-closed'],
    'without OpenFGA searches, submits and grants are answered 503 authz_unavailable, and nothing is stored',
    async () => {
      const jobs = async () => await opened.database.sql`select job_id, status from retrieval.jobs order by job_id`;
      const before = await jobs();
      await server.end();
      for (const [path, body] of [
        ['/v1/query', { collection: id, text: 'words', mode: 'bm25' }],
        ['/v1/documents:submit', { documents: [documentOf('handbook', 'late', 'words')] }],
        [`/v1/collections/${id}/readers`, { user_id: 'eve' }],
      ] as const) {
        const { status, json } = await service.call(ann, path, body);
        expect([status, json]).toEqual([
          503,
          { code: 'authz_unavailable', message: expect.any(String), trace_id: expect.any(String) },
        ]);
      }
      expect(await jobs()).toEqual(before);
    },
  );
});
