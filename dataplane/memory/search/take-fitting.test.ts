import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Candidate } from '#search/ports';
import type { Database } from '#sql/connect';
import { readingRows } from '#sql/testing/reading-rows';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { randomFrom } from '../../../e2e/support/random-from.ts';
import { type OpenedMemory, openMemory } from '../testing/open-memory.ts';
import { entryId } from './memory-entry.ts';
import { takeFitting } from './take-fitting.ts';

describe.skipIf(missingPostgres !== undefined)(onPostgres('memories within a token budget'), () => {
  const parts = new AsyncDisposableStack();
  let opened: OpenedMemory;
  let database: Database;
  beforeAll(async () => {
    opened = parts.use(await openMemory({ config: { role: 'api' } }));
    database = opened.database.database;
  });
  afterAll(() => parts.disposeAsync());

  type Stored = { readonly id: string; readonly tokens: number };

  /** A person with memories of these sizes, in tokens. */
  async function personWith(sizes: readonly number[]): Promise<{ person: string; stored: readonly Stored[] }> {
    const { sql } = database;
    const [row] = await sql<{ person: string }[]>`
      insert into memory.people (tenant, user_key) values ('t', ${uuid()}) returning person`;
    const person = row?.person ?? '';
    const stored = await sql<{ memory_id: string; tokens: number }[]>`
      insert into memory.memories (memory_id, person, text, hash, sameness, role, tokens, terms, change_no)
      select gen_random_uuid(), ${person}, 'x', '', '', 'user', size, 'x', 1
      from unnest(${sql.array([...sizes])}::int[]) as size returning memory_id, tokens`;
    return { person, stored: stored.map(({ memory_id, tokens }) => ({ id: entryId(memory_id, 1), tokens })) };
  }

  const candidatesOf = (stored: readonly Stored[]): readonly Candidate[] =>
    stored.map(({ id }, at) => ({ id, score: 1 / (at + 1) }));

  /** The result of a walk through every memory. */
  function walk(stored: readonly Stored[], topK: number, budget: number): readonly string[] {
    let rest = budget;
    const taken: string[] = [];
    for (const { id, tokens } of stored) {
      if (taken.length === topK || tokens > rest) continue;
      taken.push(id);
      rest -= tokens;
    }
    return taken;
  }

  /** A database that counts its statements. */
  function counting(): { readonly database: Database; readonly statements: () => number } {
    let count = 0;
    const sql = new Proxy(database.sql, {
      apply(target, self, args) {
        if (Array.isArray(args[0]) && 'raw' in args[0] && /^\s*select/.test(String(args[0][0]))) count += 1;
        return Reflect.apply(target, self, args);
      },
    });
    return { database: { ...database, sql }, statements: () => count };
  }

  test('random budgets select the same memories as a walk through all of them', async () => {
    const random = randomFrom(7);
    const whole = (most: number): number => 1 + Math.floor(random() * most);
    const { person, stored } = await personWith(Array.from({ length: 3_000 }, () => whole(whole(120))));
    for (let no = 0; no < 40; no += 1) {
      const order = stored.toSorted(() => random() - 0.5);
      const [topK, budget] = [whole(100), whole(whole(400))];
      const request = { top_k: topK, token_budget: budget };
      const taken = await takeFitting(database, person, candidatesOf(order), request);
      expect(taken.rows.map(({ id }) => id)).toEqual(walk(order, topK, budget));
      expect(taken).toMatchObject({ isComplete: true, dropped: 0 });
      expect(taken.tokens).toBeLessThanOrEqual(budget);
    }
  });

  test('if no memory fits into the rest of the budget, no further page is read', async () => {
    const { person, stored } = await personWith(Array.from({ length: 3_000 }, () => 30));
    const counted = counting();
    const request = { top_k: 100, token_budget: 100 };
    const first = candidatesOf(stored).slice(0, 400);
    const taken = await takeFitting(counted.database, person, first, request);
    expect(taken).toMatchObject({ tokens: 90, isComplete: true });
    expect(taken.rows).toHaveLength(3);
    expect(counted.statements()).toBe(2);
  });

  test('a small memory at the end of the ranking is found, and a memory beyond the candidates requires more of them', async () => {
    const { person, stored } = await personWith([...Array.from({ length: 3_000 }, () => 30), 5]);
    const ranked = stored.toSorted((a, b) => b.tokens - a.tokens);
    const counted = counting();
    const request = { top_k: 100, token_budget: 35 };
    const all = candidatesOf(ranked);
    expect((await takeFitting(counted.database, person, all.slice(0, 400), request)).isComplete).toBe(false);
    const taken = await takeFitting(counted.database, person, all, request);
    expect(taken).toMatchObject({ tokens: 35, isComplete: true });
    expect(taken.rows.at(-1)?.id).toBe(ranked.at(-1)?.id);
    expect(counted.statements()).toBeLessThanOrEqual(6);
  });

  test('a candidate whose memory has a newer version that fits counts as dropped', async () => {
    const { person, stored } = await personWith(Array.from({ length: 300 }, () => 30));
    const last = stored.at(-1)?.id.split('/')[0] ?? '';
    await database.sql`update memory.memories set version = 2, tokens = 5 where memory_id = ${last}`;
    const request = { top_k: 100, token_budget: 35 };
    expect(await takeFitting(database, person, candidatesOf(stored), request)).toMatchObject({
      tokens: 30,
      dropped: 1,
    });
  });

  test('the first statement without a token budget reads top_k candidates and 10 more, and the next one all others of a page', async () => {
    const { person, stored } = await personWith(Array.from({ length: 3_000 }, () => 1));
    await database.sql`analyze memory.memories`;
    const read = (outdated: number) =>
      readingRows(database, 'memory.memories', (sql) =>
        takeFitting(
          { ...database, sql },
          person,
          candidatesOf(stored.slice(0, 250)).map((one, at) => (at < outdated ? { ...one, id: `${one.id}0` } : one)),
          { top_k: 10 },
        ),
      );
    const few = await read(10);
    expect([few.read, few.answer.rows.length, few.answer.dropped]).toEqual([20, 10, 10]);
    const many = await read(11);
    expect([many.read, many.answer.rows.length, many.answer.dropped]).toEqual([220, 10, 11]);
  });

  test('a candidate whose memory was replaced by a newer version counts as dropped without a token budget, too', async () => {
    const { person, stored } = await personWith([1, 1, 1]);
    const replaced = stored[1]?.id.split('/')[0] ?? '';
    await database.sql`update memory.memories set version = 2 where memory_id = ${replaced}`;
    const taken = await takeFitting(database, person, candidatesOf(stored), { top_k: 10 });
    expect(taken.rows.map(({ id }) => id)).toEqual([stored[0]?.id, stored[2]?.id]);
    expect(taken.dropped).toBe(1);
  });

  test('a search whose client has disconnected reads nothing', async () => {
    const { person, stored } = await personWith([1]);
    const signal = AbortSignal.abort(new Error('the client has gone'));
    const search = takeFitting(database, person, candidatesOf(stored), { top_k: 1 }, signal);
    await expect(search).rejects.toThrow('the client has gone');
  });
});
