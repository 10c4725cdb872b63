import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPostgresAudit } from '#audit/adapters/postgres/postgres-audit';
import type { AuditContent } from '#contracts/audit';
import { createAuditVerifier } from '#contracts/verify-audit';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { documentOf, type OpenedRetrieval, startRetrieval } from '../testing/start-retrieval.ts';

const ann = { user: 'ann', groups: ['staff'] };
const bob = { user: 'bob', groups: ['staff'] };
const profile = { embedding_profile_id: 'test-profile' };

describe.skipIf(missingPostgres !== undefined)(onPostgres('the audit log of retrieval'), () => {
  const parts = new AsyncDisposableStack();
  let opened: Awaited<ReturnType<typeof openTestDatabase>>;
  let service: OpenedRetrieval;

  const log = () => openPostgresAudit(opened.database, 'retrieval');
  const entriesSince = async (start: number): Promise<readonly AuditContent[]> => {
    const { entries } = await (await log()).read({ filter: { chain: 'retrieval' }, order: 'oldest', limit: 500 });
    return entries.filter(({ number }) => number > start).map(({ content }) => content);
  };
  const head = async (): Promise<number> => {
    const chain = (await (await log()).chains()).find((one) => one.chain === 'retrieval');
    return chain?.newest.number ?? 0;
  };
  const create = async (name: string, more: object = {}): Promise<string> => {
    const { json, status } = await service.call(ann, '/v1/collections', { ...profile, name, ...more });
    expect(status).toBe(201);
    return String(json['collection_id']);
  };

  beforeAll(async () => {
    opened = parts.use(await openTestDatabase());
    service = parts.use(await startRetrieval(opened));
  });
  afterAll(() => parts.disposeAsync());

  test('grants, shares, revocations, moves and deletions each have one entry with author and target', async () => {
    const above = await create('above');
    const id = await create('below');
    await service.ingest(ann, [documentOf('below', 'secret-name', 'A secret text.')]);
    const start = await head();
    const at = `/v1/collections/${id}`;
    await service.call(ann, `${at}/readers`, { user_id: 'bob' });
    await service.call(ann, `${at}/grants`, { relation: 'writer', group: 'staff' });
    await service.call(ann, `${at}/grants`, { relation: 'writer', group: 'staff' });
    await service.call(ann, `${at}/grants:revoke`, { relation: 'reader', user_id: 'bob' });
    await service.call(ann, `${at}/grants:revoke`, { relation: 'reader', user_id: 'bob' });
    await service.send(ann, 'PATCH', at, { description: 'A secret text.' });
    await service.send(ann, 'PATCH', at, { visibility: 'public' });
    await service.send(ann, 'PATCH', at, { visibility: 'public', description: 'Another text.' });
    const acl = { collection: 'below', doc_id: 'secret-name', acl: { groups: ['board'] } };
    await service.call(ann, '/v1/documents:acl', acl);
    await service.call(ann, `${at}:move`, { parent_id: above });
    const { json } = await service.send(ann, 'DELETE', `${at}/documents/secret-name`);
    await service.send(ann, 'DELETE', at);
    const entries = await entriesSince(start);
    const collection = { type: 'collection', id };
    const document = { type: 'document', id: expect.stringMatching(/^[0-9]+$|^[0-9a-f-]{36}$/) };
    const tuple = (relation: string, subject: string) => ({
      type: 'collection',
      id: `collection:acme/${id}#${relation}@${subject}`,
    });
    expect(entries.map(({ action, target }) => [action, target])).toEqual([
      ['relation.grant', tuple('reader', 'user:development%3Aacme|bob')],
      ['relation.grant', tuple('writer', 'group:acme/staff#member')],
      ['relation.revoke', tuple('reader', 'user:development%3Aacme|bob')],
      ['collection.update', collection],
      ['document.acl', document],
      ['collection.move', collection],
      ['document.delete', document],
      ['collection.delete', collection],
    ]);
    for (const entry of entries) {
      expect(entry).toMatchObject({
        outcome: 'accepted',
        code: null,
        author: { kind: 'claimed', name: 'ann' },
        client: 'loopback',
      });
    }
    expect(entries.find(({ action }) => action === 'document.delete')?.operationId).toBe(json['job_id']);
    expect(JSON.stringify(entries)).not.toMatch(/secret/);
  });

  test('the owner and the parent of a new collection have entries, and a creation that is refused has no entry', async () => {
    const start = await head();
    const above = await create('with-owner');
    const id = await create('with-parent', { parent_id: above });
    const taken = await service.call(ann, '/v1/collections', { ...profile, name: 'with-owner' });
    expect(taken.status).toBe(409);
    const owned = (one: string) => `collection:acme/${one}#owner@user:development%3Aacme|ann`;
    const entries = await entriesSince(start);
    expect(entries.map(({ action, target }) => [action, target?.id])).toEqual([
      ['relation.grant', owned(above)],
      ['relation.grant', owned(id)],
      ['relation.grant', `collection:acme/${id}#parent@collection:acme/${above}`],
    ]);
    expect(entries[0]).toMatchObject({ outcome: 'accepted', author: { kind: 'claimed', name: 'ann' } });
  });

  test('a deletion in a batch has an entry, and its repetition has no entry', async () => {
    await create('batch');
    await service.ingest(ann, [documentOf('batch', 'a', 'Text.'), documentOf('batch', 'b', 'Text.')]);
    const start = await head();
    const deletion = { ...documentOf('batch', 'a', ''), op: 'delete' };
    await service.ingest(ann, [deletion, documentOf('batch', 'b', 'Other text.')]);
    await service.ingest(ann, [deletion]);
    expect((await entriesSince(start)).map(({ action }) => action)).toEqual(['document.delete']);
  });

  test('a refused change has an entry with its code, and a refused query has no entry', async () => {
    const id = await create('refused', { visibility: 'public' });
    const start = await head();
    expect((await service.send(bob, 'DELETE', `/v1/collections/${id}`)).status).toBe(403);
    expect((await service.call(bob, '/v1/groups/staff/members', { user_id: 'bob' })).status).toBe(403);
    expect((await service.call(bob, '/v1/query', { collection: 'unknown', text: 'a' })).status).toBe(404);
    const entries = await until('the refusals are recorded', async () => {
      const found = await entriesSince(start);
      return found.length >= 2 ? found : undefined;
    });
    const refused = { outcome: 'refused', code: 'forbidden', author: { kind: 'claimed', name: 'bob' } };
    expect(entries).toMatchObject([
      { ...refused, action: 'collection.delete', target: { type: 'collection', id } },
      { ...refused, action: 'relation.grant', target: null },
    ]);
    expect(entries).toHaveLength(2);
  });

  test('without the audit log no right is changed and nothing is deleted', async () => {
    const id = await create('kept');
    const at = `/v1/collections/${id}`;
    await service.call(ann, `${at}/readers`, { user_id: 'carl' });
    const { sql } = opened.database;
    const tuples = () => sql`select relation, subject from relations.tuples where object = ${`collection:acme/${id}`}`;
    const before = await tuples();
    await sql`alter table audit.entries rename to entries_away`;
    try {
      const answers = [
        await service.call(ann, `${at}/readers`, { user_id: 'bob' }),
        await service.call(ann, `${at}/grants:revoke`, { relation: 'reader', user_id: 'carl' }),
        await service.send(ann, 'DELETE', at),
      ];
      expect(answers.map(({ status }) => status >= 500)).toEqual([true, true, true]);
    } finally {
      await sql`alter table audit.entries_away rename to entries`;
    }
    expect(await tuples()).toEqual(before);
    expect((await service.call(ann, at)).status).toBe(200);
  });

  test('the audit log of retrieval has an unbroken chain', async () => {
    const opened = await log();
    const verifier = createAuditVerifier(await opened.chains());
    const { entries } = await opened.read({ filter: {}, order: 'oldest', limit: 500 });
    for (const entry of entries) verifier.add(entry);
    expect(verifier.end()).toEqual([]);
    expect(entries.length).toBeGreaterThan(10);
  });
});
