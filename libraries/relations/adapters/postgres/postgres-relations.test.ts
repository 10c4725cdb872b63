import { afterAll, describe, expect, test } from 'vitest';
import { connectSql } from '#sql/connect';
import {
  missingPostgres,
  onPostgres,
  openTestDatabase,
  startTestServer,
  type TestDatabase,
} from '#sql/testing/test-database';
import { controlPlane } from '../../model.ts';
import { RelationsUnavailableError } from '../../relations-error.ts';
import { reachSuite } from '../../testing/reach-suite.ts';
import { relationsSuite } from '../../testing/relations-suite.ts';
import { openPostgresRelations } from './postgres-relations.ts';

describe.skipIf(missingPostgres !== undefined)(onPostgres('relations in PostgreSQL'), () => {
  /**
   * Databases that are not in use. A test empties its database at its end, which is faster than creating a new
   * database.
   */
  const unused: TestDatabase[] = [];
  afterAll(async () => {
    for (const opened of unused) await opened[Symbol.asyncDispose]();
  });

  const openEmpty = async () => {
    const opened = unused.pop() ?? (await openTestDatabase());
    const relations = await openPostgresRelations(opened.database);
    return {
      ...relations,
      async [Symbol.asyncDispose]() {
        await opened.database.sql`truncate relations.tuples`;
        unused.push(opened);
      },
    };
  };
  relationsSuite(openEmpty);
  reachSuite(openEmpty);

  test('PostgreSQL relation replicas open concurrently, and each change is immediately visible to the other replicas', async () => {
    await using opened = await openTestDatabase();
    await using other = opened.connect();
    const [one, two] = await Promise.all([openPostgresRelations(opened.database), openPostgresRelations(other)]);
    const tuple = { subject: 'user:a', relation: 'administer', object: controlPlane };
    for (let round = 0; round < 20; round += 1) {
      await one.grant([tuple]);
      expect(await two.check('user:a', 'administer', controlPlane)).toBe(true);
      await two.revoke([tuple]);
      expect(await one.check('user:a', 'administer', controlPlane)).toBe(false);
    }
  });

  test('batched checks that lead to more pairs of object and relation than one statement visits are made one by one', async () => {
    await using relations = await openEmpty();
    const chain = Array.from({ length: 10 }, (_one, at) => `collection:chain-${at}`);
    // Each child has 33 pairs including those of its parents: together the children exceed 10,000 pairs.
    const children = Array.from({ length: 304 }, (_one, at) => `collection:child-${at}`);
    const parents = [
      ...chain.slice(1).map((object, at) => ({ subject: chain[at] ?? '', relation: 'parent', object })),
      ...children.map((object) => ({ subject: chain.at(-1) ?? '', relation: 'parent', object })),
    ];
    await relations.grant([{ subject: 'user:a', relation: 'reader', object: chain[0] ?? '' }]);
    for (let at = 0; at < parents.length; at += 100) await relations.grant(parents.slice(at, at + 100));
    for (const count of [303, 304]) {
      const asked = children.slice(0, count);
      expect(await relations.checkEach('user:a', 'reader', asked)).toEqual(asked.map(() => true));
      expect(await relations.checkEach('user:b', 'reader', asked)).toEqual(asked.map(() => false));
    }
  });

  test('a lost database makes every check and change of relations fail as unavailable, without an answer', async () => {
    await using server = await startTestServer();
    const opened = await server.createDatabase();
    const relations = await openPostgresRelations(opened.database);
    const tuple = { subject: 'user:a', relation: 'administer', object: controlPlane };
    await relations.grant([tuple]);
    await server.process.end('SIGTERM');
    await expect(relations.check('user:a', 'administer', controlPlane)).rejects.toBeInstanceOf(
      RelationsUnavailableError,
    );
    await expect(relations.grant([tuple])).rejects.toBeInstanceOf(RelationsUnavailableError);
    await expect(relations.revoke([tuple])).rejects.toBeInstanceOf(RelationsUnavailableError);
    await expect(relations.listTuples({ limit: 1 })).rejects.toBeInstanceOf(RelationsUnavailableError);
    await opened.database[Symbol.asyncDispose]();
  });
});

test('PostgreSQL relations do not open without a database', async () => {
  await using database = connectSql({ url: 'postgres://me@127.0.0.1:1/a', applicationName: 'test' });
  await expect(openPostgresRelations(database)).rejects.toBeInstanceOf(RelationsUnavailableError);
});
