import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database, TransactionSql } from '#sql/connect';
import { readingRows } from '#sql/testing/reading-rows';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { randomFrom } from '../../../e2e/support/random-from.ts';
import { extractFacts } from '../extraction/extract-facts.ts';
import { samenessOf } from '../extraction/sameness.ts';
import { type PastMemory, settleFacts } from '../extraction/settle-facts.ts';
import { countLive, listLive } from '../facts/live-memories.ts';
import { lastStated } from '../facts/memory-row.ts';
import { memorySource } from '../search/memory-source.ts';
import { type OpenedMemory, openMemory } from '../testing/open-memory.ts';
import { readKnown } from './known-memories.ts';
import type { PreparedFact } from './prepare-facts.ts';

const deleted = 5_000;
const live = 20;
const everyScope = { agentId: null, runId: null };

/** The facts of a message, as an add prepares them. */
function preparedFrom(content: string, saidAt = new Date()): readonly PreparedFact[] {
  return extractFacts({ role: 'user', content, saidAt }, 0).map((fact) => {
    const topic = fact.statement?.topic ?? null;
    return { fact, stored: { text: fact.text, topic, tokens: 1, terms: [], vector: undefined, vectorsKey: undefined } };
  });
}

describe.skipIf(missingPostgres !== undefined)(onPostgres('the memories that an add is decided against'), () => {
  let opened: OpenedMemory;
  let database: Database;
  beforeAll(async () => {
    opened = await openMemory({ config: { role: 'api' } });
    database = opened.database.database;
  });
  afterAll(() => opened[Symbol.asyncDispose]());

  async function newPerson(): Promise<string> {
    const [row] = await database.sql<{ person: string }[]>`
      insert into memory.people (tenant, user_key) values ('acme', ${uuid()}) returning person`;
    return row?.person ?? '';
  }

  /** Stores memories "I live in Rome" of the agent `tutor`, one second apart. */
  async function remember(
    person: string,
    count: number,
    { runId = null, isDeleted = false }: { readonly runId?: string | null; readonly isDeleted?: boolean } = {},
  ): Promise<void> {
    await database.sql`
      insert into memory.memories (memory_id, person, agent_id, run_id, text, hash, sameness, topic, role, tokens, terms, change_no,
        stated_at, deleted_at)
      select gen_random_uuid(), ${person}, 'tutor', ${runId}, 'I live in Rome', '', ${samenessOf('I live in Rome')}, 'residence',
        'user', 1, 'live rome', 1, now() - n * interval '1 second', case when ${isDeleted} then now() end
      from generate_series(1, ${count}::int) n`;
  }

  describe('of a person with many deleted ones', () => {
    let person: string;
    beforeAll(async () => {
      person = await newPerson();
      await remember(person, deleted, { isDeleted: true });
      await remember(person, deleted, { isDeleted: true, runId: 'other' });
      await remember(person, live);
      // Most memories are live memories of other persons, so that statistics do not show those of this person.
      for (let others = 0; others < 4; others += 1) await remember(await newPerson(), 10_000);
      await database.sql`analyze memory.memories`;
    });

    test.each(['force_custom_plan', 'force_generic_plan'])(
      'an add for a person with many deleted memories reads no deleted memory before the last one, with %s',
      async (mode) => {
        const prepared = preparedFrom('I live in Rome.');
        const { answer, read } = await readingRows(
          database,
          'memory.memories',
          (sql) => readKnown(sql, { person, agentId: 'tutor', runId: null }, prepared, []),
          (sql: TransactionSql) => sql`select set_config('plan_cache_mode', ${mode}, true)`,
        );
        expect(answer.known).toHaveLength(live);
        expect(answer.past).toHaveLength(2);
        // Besides the live memories, the planner itself reads single rows at the ends of an index.
        expect(read).toBeLessThan(live + 20);
      },
    );

    test.each(['force_custom_plan', 'force_generic_plan'])(
      'memories are listed, counted and indexed without reading deleted ones, with %s',
      async (mode) => {
        const settings = (sql: TransactionSql) => sql`select set_config('plan_cache_mode', ${mode}, true)`;
        const list = await readingRows(
          database,
          'memory.memories',
          (sql) => listLive(sql, person, everyScope, { size: 10 }),
          settings,
        );
        expect(list.answer).toHaveLength(10);
        expect(list.read).toBeLessThan(live + 20);
        const count = await readingRows(
          database,
          'memory.memories',
          (sql) => countLive(sql, person, everyScope),
          settings,
        );
        expect(count.answer).toBe(live);
        expect(count.read).toBeLessThan(live + 20);
        const load = await readingRows(
          database,
          'memory.memories',
          async (sql) => {
            const loaded = await memorySource({ sql }).load(`/${person}`);
            return loaded && Array.fromAsync(loaded.entries);
          },
          settings,
        );
        expect(load.answer?.flat()).toHaveLength(live);
        expect(load.read).toBeLessThan(live + 20);
      },
    );
  });

  test('reading only some deleted memories leads to the same decision as reading all of them', async () => {
    const random = randomFrom(14);
    const one = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
    const texts = ['I live in Rome.', 'I live in Paris.', 'I like tea.', 'I work at Nokia.', 'My dog is called Rex.'];
    const time = (): Date => new Date(Date.UTC(2026, 2, 1 + Math.floor(random() * 6)));
    const decisions = new Set<string>();
    for (let no = 0; no < 60; no += 1) {
      const person = await newPerson();
      const scope = { person, agentId: one(['tutor', null]), runId: one(['run', null]) };
      for (let memories = Math.floor(random() * 12); memories > 0; memories -= 1) {
        const [{ fact, stored }] = preparedFrom(one(texts)) as [PreparedFact];
        const saidAt = time();
        // A change by hand can give a memory another topic, and rows of earlier releases have no time of statement.
        await database.sql`
          insert into memory.memories (memory_id, person, agent_id, run_id, text, hash, sameness, topic, role, tokens, terms,
            change_no, stated_at, source, deleted_at)
          values (${uuid()}, ${person}, ${one([scope.agentId, scope.agentId, 'other'])}, ${one([scope.runId, scope.runId, 'other'])},
            ${fact.text}, '', ${fact.sameness}, ${one([stored.topic, 'residence', null])}, 'user', 1, '', 1,
            ${one([saidAt, saidAt, null])}, ${JSON.stringify({ said_at: saidAt })}::text::jsonb,
            ${one([saidAt, saidAt, saidAt, null])})`;
      }
      const prepared = preparedFrom(texts.join(' '), time());
      const facts = prepared.map(({ fact }) => fact);
      const { known, past } = await database.sql.begin((sql) => readKnown(sql, scope, prepared, []));
      const every = await database.sql<PastMemory[]>`
        select sameness, topic, ${lastStated(database.sql)} as "statedAt" from memory.memories m
        where person = ${person} and deleted_at is not null
          and agent_id is not distinct from ${scope.agentId} and run_id is not distinct from ${scope.runId}`;
      const decided = settleFacts(facts, known, past);
      expect(decided).toEqual(settleFacts(facts, known, every));
      for (const { reason } of decided) decisions.add(reason);
    }
    expect([...decisions]).toEqual(expect.arrayContaining(['new', 'older than the deleted fact', 'known']));
  });

  test('an expired memory that maintenance has not deleted yet still decides', async () => {
    const person = await newPerson();
    await remember(person, 1);
    await database.sql`update memory.memories set expires_at = now() - interval '1 hour' where person = ${person}`;
    const scope = { person, agentId: 'tutor', runId: null };
    const read = await database.sql.begin((sql) => readKnown(sql, scope, preparedFrom('I live in Oslo.'), []));
    expect(read).toMatchObject({ known: [], past: [{ topic: 'residence' }] });
  });

  test('memories that a message refers to, or that a change may be about, are read as well', async () => {
    const person = await newPerson();
    await remember(person, 1);
    const [row] = await database.sql<{ memory_id: string }[]>`
      select memory_id from memory.memories where person = ${person}`;
    const memoryId = row?.memory_id ?? '';
    const scope = { person, agentId: 'tutor', runId: null };
    const known = async (content: string, referred: readonly string[] = []) => {
      const read = await database.sql.begin((sql) => readKnown(sql, scope, preparedFrom(content), referred));
      return read.known.map((memory) => memory.memoryId);
    };
    expect(await known('I like tea.')).toEqual([]);
    expect(await known('I like tea.', [memoryId])).toEqual([memoryId]);
    expect(await known('I have moved.')).toEqual([memoryId]);
    expect(await known('I no longer live in Rome, I gave up on Rome.')).toEqual([memoryId]);
    expect(await known('the visit to Oslo is on Friday now')).toEqual([]);
    expect(await known('the visit to Rome is on Friday now')).toEqual([memoryId]);
    expect(await known('just call me Romy')).toEqual([]);
  });
});
