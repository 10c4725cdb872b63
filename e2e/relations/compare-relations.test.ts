import { describe, expect, test } from 'vitest';
import { openPostgresRelations } from '#relations/adapters/postgres/postgres-relations';
import type { Relations } from '#relations/ports';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { compareRelations, type Store } from './compare-relations.ts';

describe.skipIf(missingPostgres !== undefined)(onPostgres('random steps'), () => {
  async function storeOf(relations: Relations): Promise<Store> {
    return { name: 'store', replicas: [relations, relations] };
  }

  test('random steps find no difference between two correct relation stores', async () => {
    await using one = await openTestDatabase();
    await using two = await openTestDatabase();
    const stores = [
      await storeOf(await openPostgresRelations(one.database)),
      await storeOf(await openPostgresRelations(two.database)),
    ] as const;
    const found = await compareRelations(stores, 400, 7);
    expect(found).toMatchObject({ differences: 0, staleAllows: 0, wrong: 0 });
    expect(found.allowed).toBeGreaterThan(20);
  });

  test('random steps detect a relation store that repeats a cached answer for the next check', async () => {
    await using one = await openTestDatabase();
    await using two = await openTestDatabase();
    const right = await openPostgresRelations(one.database);
    const kept = new Map<string, boolean>();
    const cached: Relations = {
      ...right,
      async check(...question) {
        const answer = kept.get(question.join()) ?? (await right.check(...question));
        kept.set(question.join(), answer);
        return answer;
      },
    };
    const stores = [await storeOf(cached), await storeOf(await openPostgresRelations(two.database))] as const;
    const found = await compareRelations(stores, 600, 7);
    expect(found.differences).toBeGreaterThan(0);
    expect(found.staleAllows).toBeGreaterThan(0);
  });
});
