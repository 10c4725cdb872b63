import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { openPostgresRelations } from '#relations/adapters/postgres/postgres-relations';
import { controlPlane } from '#relations/model';
import type { Relations, Tuple } from '#relations/ports';
import { userSubject } from '#relations/subject';
import { collectionObject, groupObject } from '#relations/tenant-object';
import { takeNamedLock } from '#sql/named-lock';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import { verifies } from '../../../e2e/support/verifies.ts';
import { type OpenedRetrieval, startRetrieval } from '../testing/start-retrieval.ts';

const ann = { user: 'ann' };
const subjectOf = (name: string) => userSubject({ issuer: 'development:acme', subject: name });

describe.skipIf(missingPostgres !== undefined)(onPostgres('changes of rights that wait for others'), () => {
  let opened: TestDatabase;
  let service: OpenedRetrieval;
  let relations: Relations;
  beforeAll(async () => {
    opened = await openTestDatabase();
    service = await startRetrieval(opened);
    relations = await openPostgresRelations(opened.database);
  });
  afterAll(async () => {
    await service?.[Symbol.asyncDispose]();
    await opened?.[Symbol.asyncDispose]();
  });

  const create = async (name: string): Promise<string> => {
    const body = { name, embedding_profile_id: 'test-profile' };
    return String((await service.call(ann, '/v1/collections', body)).json['collection_id']);
  };

  /** Sends a request that waits for a lock, meanwhile changes the rights, and lets the request continue. */
  async function statusOfWaiting(lock: string, path: string, body: object, meanwhile: () => Promise<void>) {
    const { sql } = opened.database;
    let waiting: ReturnType<OpenedRetrieval['call']> | undefined;
    await sql.begin(async (own) => {
      await takeNamedLock(own, lock);
      waiting = service.call(ann, path, body);
      await until('the request waits for the lock', async () => {
        const rows = await sql`
          select from pg_locks where locktype = 'advisory' and not granted
            and database = (select oid from pg_database where datname = current_database())`;
        return rows.length > 0;
      });
      await meanwhile();
    });
    return (await waiting)?.status;
  }

  test.each([
    ['added by an administrator whose request waited', false, 200],
    ['refused if its administrator is removed while the request waits', true, 403],
  ] as const)('a member of a group is %s', async (_, isRemoved, status) => {
    const administrator: Tuple = { subject: subjectOf('ann'), relation: 'administer', object: controlPlane };
    await relations.grant([administrator]);
    const group = groupObject('acme', `board-${status}`);
    const seen = await statusOfWaiting(
      `retrieval relations of ${group}`,
      `/v1/groups/board-${status}/members`,
      { user_id: 'bob' },
      async () => {
        if (isRemoved) await relations.revoke([administrator]);
      },
    );
    expect(seen).toBe(status);
    expect(await relations.tuplesOf(group)).toHaveLength(isRemoved ? 0 : 1);
  });

  verifies(
    ['retrieval:readers:owner-only'],
    'a reader that an owner grants is refused if the ownership ends while the request waits',
    async () => {
      const id = await create('granted');
      const object = collectionObject('acme', id);
      const owner: Tuple = { subject: subjectOf('ann'), relation: 'owner', object };
      const path = `/v1/collections/${id}/readers`;
      const seen = await statusOfWaiting(`retrieval relations of ${object}`, path, { user_id: 'bob' }, () =>
        relations.revoke([owner]),
      );
      expect(seen).toBe(403);
      expect(await relations.tuplesOf(object)).toEqual([]);
    },
  );

  test.each(['the collection', 'the parent'])(
    'a move is refused if the right to %s ends while the request waits for another move',
    async (ending) => {
      const [child, parent] = [await create(`child of ${ending}`), await create(`parent of ${ending}`)];
      const object = collectionObject('acme', ending === 'the parent' ? parent : child);
      const owner: Tuple = { subject: subjectOf('ann'), relation: 'owner', object };
      const path = `/v1/collections/${child}:move`;
      const seen = await statusOfWaiting('retrieval parents of acme', path, { parent_id: parent }, () =>
        relations.revoke([owner]),
      );
      expect(seen).toBe(403);
      expect((await relations.tuplesOf(collectionObject('acme', child))).map(({ relation }) => relation)).not.toContain(
        'parent',
      );
    },
  );
});
