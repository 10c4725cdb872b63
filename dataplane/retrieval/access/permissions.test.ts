import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TenantCaller } from '#identity/tenant-caller';
import { openPostgresRelations } from '#relations/adapters/postgres/postgres-relations';
import type { Relations } from '#relations/ports';
import { agentSubject, userSubject } from '#relations/subject';
import { collectionObject, groupObject, membersOfGroup } from '#relations/tenant-object';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import { documentLabels } from './document-labels.ts';
import {
  beginningOf,
  type GuardedCollection,
  mayRead,
  mayWrite,
  owns,
  readableAmong,
  readableCollections,
  visibleLabels,
} from './permissions.ts';

const issuer = 'https://issuer.example';
const named = (subject: string) => ({ issuer, subject });
const callerOf = (user: string, change: Partial<TenantCaller> = {}): TenantCaller => ({
  ...{ tenant: 'acme', user: named(user), agent: undefined, groups: [], principals: [], issuers: [issuer] },
  ...change,
});
const collection = (change: Partial<GuardedCollection> = {}): GuardedCollection => ({
  ...{ tenant: 'acme', collectionId: randomUUID(), visibility: 'private', aclModel: 'document' },
  ...change,
});
const objectOf = ({ tenant, collectionId }: GuardedCollection) => collectionObject(tenant, collectionId);
const ann = callerOf('ann');

describe.skipIf(missingPostgres !== undefined)(onPostgres('rights of callers'), () => {
  let opened: TestDatabase;
  let relations: Relations;
  beforeAll(async () => {
    opened = await openTestDatabase();
    relations = await openPostgresRelations(opened.database);
  });
  afterAll(() => opened?.[Symbol.asyncDispose]());

  const give = (subject: string, relation: string, to: GuardedCollection) =>
    relations.grant([{ subject, relation, object: objectOf(to) }]);
  const sees = async (caller: TenantCaller, labels: readonly string[], where: GuardedCollection) => {
    const held = await visibleLabels(relations, caller, where);
    return held === 'every' || labels.some((label) => held.includes(label));
  };

  test('an owner can write and read, a writer can read, and a reader can only read', async () => {
    const where = collection();
    for (const [name, relation] of Object.entries({ ann: 'owner', bob: 'writer', eve: 'reader' })) {
      await give(userSubject(named(name)), relation, where);
    }
    const rights = (name: string) =>
      Promise.all([owns, mayWrite, mayRead].map((right) => right(relations, callerOf(name), where)));
    expect(await rights('ann')).toEqual([true, true, true]);
    expect(await rights('bob')).toEqual([false, true, true]);
    expect(await rights('eve')).toEqual([false, false, true]);
    expect(await rights('tom')).toEqual([false, false, false]);
  });

  test('a collection with the same id in another tenant grants no right', async () => {
    const where = collection();
    await give(userSubject(ann.user), 'owner', where);
    for (const right of [owns, mayWrite, mayRead]) {
      expect(await right(relations, ann, { ...where, tenant: 'globex' })).toBe(false);
      expect(await right(relations, { ...ann, tenant: 'globex' }, where)).toBe(false);
      expect(await right(relations, { ...ann, tenant: 'globex' }, { ...where, tenant: 'globex' })).toBe(false);
    }
    expect(await visibleLabels(relations, { ...ann, tenant: 'globex' }, where)).toEqual([]);
  });

  test('a claimed group gives access only to the collections of its tenant, and only to its user', async () => {
    const where = collection();
    await give(membersOfGroup(groupObject('acme', 'staff')), 'writer', where);
    const claiming = { ...ann, groups: ['staff'] };
    expect(await mayWrite(relations, claiming, where)).toBe(true);
    expect(await mayWrite(relations, { ...claiming, tenant: 'globex' }, where)).toBe(false);
    expect(await mayRead(relations, ann, where)).toBe(false);
  });

  test('every caller of the tenant reads a public collection, and only writers write it', async () => {
    const where = collection({ visibility: 'public' });
    expect(await mayRead(relations, ann, where)).toBe(true);
    expect(await mayWrite(relations, ann, where)).toBe(false);
    expect(await mayRead(relations, { ...ann, tenant: 'globex' }, where)).toBe(false);
  });

  test.each(['document', 'collection'] as const)(
    'an agent with a grant may read a collection with acl_model %s and adds no document to those that the labels of the user show',
    async (aclModel) => {
      const where = collection({ aclModel });
      await give(agentSubject(named('helper')), 'reader', where);
      const byAgent = { ...ann, agent: named('helper') };
      expect(await mayRead(relations, ann, where)).toBe(false);
      expect(await mayRead(relations, byAgent, where)).toBe(true);
      expect(await sees(byAgent, documentLabels({ groups: ['staff'] }, where, ann), where)).toBe(false);
      const own = documentLabels({ principals: ['ann'] }, where, ann);
      expect(await sees(byAgent, own, where)).toBe(aclModel === 'document');
    },
  );

  test('an acting integration service writes by its own right, and reads nothing more', async () => {
    const where = collection();
    await give(agentSubject(named('importer')), 'writer', where);
    const byImporter = { ...ann, agent: named('importer') };
    expect(await mayWrite(relations, byImporter, where)).toBe(true);
    expect(await owns(relations, byImporter, where)).toBe(false);
    expect(await mayWrite(relations, { ...ann, agent: named('other') }, where)).toBe(false);
    expect(await sees(byImporter, documentLabels(undefined, where, ann), where)).toBe(false);
  });

  test('with acl_model collection readers see every document, also those of a parent collection', async () => {
    const [parent, child] = [collection(), collection({ aclModel: 'collection' })];
    await relations.grant([
      { subject: objectOf(parent), relation: 'parent', object: objectOf(child) },
      { subject: userSubject(ann.user), relation: 'reader', object: objectOf(parent) },
    ]);
    expect(await visibleLabels(relations, ann, child)).toBe('every');
    expect(await visibleLabels(relations, callerOf('bob'), child)).toEqual([]);
  });

  test('a document is seen by its groups and principals, and not by others with the same name elsewhere', async () => {
    const where = collection();
    await relations.grant([
      { subject: userSubject(named('bob')), relation: 'member', object: groupObject('acme', 'staff') },
      { subject: userSubject(named('eve')), relation: 'member', object: groupObject('globex', 'staff') },
    ]);
    const labels = documentLabels({ groups: ['staff'], principals: ['ann', `${issuer}|auth0|7`] }, where, ann);
    expect(await sees(ann, labels, where)).toBe(true);
    expect(await sees(callerOf('auth0|7'), labels, where)).toBe(true);
    expect(await sees(callerOf('tom', { groups: ['staff'] }), labels, where)).toBe(true);
    expect(await sees(callerOf('bob'), labels, where)).toBe(true);
    expect(await sees(callerOf('eve'), labels, where)).toBe(false);
    expect(await sees(callerOf('tom', { principals: [named('ann')] }), labels, where)).toBe(true);
    const stranger = callerOf('ann', { user: { issuer: 'https://other.example', subject: 'ann' } });
    expect(await sees(stranger, labels, where)).toBe(false);
  });

  test('a document without an access list is visible to the owner, and to every caller while its collection is public', async () => {
    const where = collection();
    await give(userSubject(ann.user), 'owner', where);
    await give(userSubject(named('bob')), 'reader', where);
    const strictest = documentLabels({}, where, ann);
    expect(await sees(ann, strictest, where)).toBe(true);
    expect(await sees(callerOf('bob'), strictest, where)).toBe(false);
    const open = documentLabels(undefined, { visibility: 'public' }, ann);
    expect(await sees(callerOf('tom'), open, { ...where, visibility: 'public' })).toBe(true);
    expect(await sees(callerOf('bob'), open, where)).toBe(false);
  });

  test('readable collections are those of the tenant that the user or the agent may read', async () => {
    const caller = callerOf('mia', { agent: named('reader-of-mia'), groups: ['mias'] });
    const [own, byGroup, byAgent, foreign] = [
      collection(),
      collection(),
      collection(),
      collection({ tenant: 'globex' }),
    ];
    await give(userSubject(caller.user), 'owner', own);
    await give(membersOfGroup(groupObject('acme', 'mias')), 'reader', byGroup);
    await give(agentSubject(named('reader-of-mia')), 'reader', byAgent);
    await give(userSubject(caller.user), 'reader', foreign);
    const wanted = [own, byGroup, byAgent].map(({ collectionId }) => collectionId);
    expect([...(await readableCollections(relations, caller))].sort()).toEqual(wanted.toSorted());
    const asked = [foreign, own, collection(), byGroup, byAgent].map(({ collectionId }) => collectionId);
    expect(await readableAmong(relations, caller, asked)).toEqual(wanted);
    expect(await readableAmong(relations, callerOf('tom'), asked)).toEqual([]);
  });

  test('a new collection has its owner, and a parent only if the caller may write the parent', async () => {
    const parent = collection();
    const id = randomUUID();
    expect(await beginningOf(relations, ann, id, parent.collectionId)).toBe('forbidden');
    await give(userSubject(ann.user), 'reader', parent);
    expect(await beginningOf(relations, ann, id, parent.collectionId)).toBe('forbidden');
    await give(userSubject(ann.user), 'writer', parent);
    const object = collectionObject('acme', id);
    const owner = { subject: userSubject(ann.user), relation: 'owner', object };
    expect(await beginningOf(relations, ann, id, parent.collectionId)).toEqual({
      object,
      tuples: [owner, { subject: objectOf(parent), relation: 'parent', object }],
    });
    expect(await beginningOf(relations, ann, id, undefined)).toEqual({ object, tuples: [owner] });
  });

  test('a revoked right to a collection is refused by the next check', async () => {
    const where = collection();
    const tuple = { subject: userSubject(ann.user), relation: 'reader', object: objectOf(where) };
    await relations.grant([tuple]);
    expect(await mayRead(relations, ann, where)).toBe(true);
    await relations.revoke([tuple]);
    expect(await mayRead(relations, ann, where)).toBe(false);
  });
});
