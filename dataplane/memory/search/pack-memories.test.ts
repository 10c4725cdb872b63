import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { openPackedIndex } from '#search/adapters/packed/packed-index';
import type { AttributeCondition } from '#search/condition';
import type { CandidateQuery } from '#search/ports';
import { missingPostgres, onPostgres, type TestDatabase } from '#sql/testing/test-database';
import { randomFrom } from '../../../e2e/support/random-from.ts';
import { deleteScope } from '../facts/delete-scope.ts';
import { insertMemory, removeMemory, replaceMemory } from '../facts/write-memory.ts';
import { beginChange } from '../people/person.ts';
import { type OpenedMemory, openMemory } from '../testing/open-memory.ts';
import { memorySource } from './memory-source.ts';
import { packMemories } from './pack-memories.ts';

const words = ['tea', 'кофе', 'rome', 'python', 'школа'];

describe.skipIf(missingPostgres !== undefined)(onPostgres('packed memories'), () => {
  const parts = new AsyncDisposableStack();
  let opened: OpenedMemory;
  let database: TestDatabase['database'];
  beforeAll(async () => {
    opened = parts.use(await openMemory({ config: { role: 'api' } }));
    database = opened.database.database;
  });
  afterAll(() => parts.disposeAsync());

  const newPerson = async (): Promise<string> => {
    const [row] = await database.sql<{ person: string }[]>`
      insert into memory.people (tenant, user_key) values ('t', ${uuid()}) returning person`;
    return row?.person ?? '';
  };
  const textOf = (random: () => number, key: string) => {
    const terms = words.filter(() => random() < 0.5);
    const numbers = Float32Array.from({ length: key.length }, () => random() - 0.5);
    const norm = Math.hypot(...numbers);
    const vector = random() < 0.9 ? numbers.map((number) => number / norm) : undefined;
    return { text: terms.join(' ') || 'x', topic: null, tokens: 1, terms, vector, vectorsKey: key };
  };
  type Store = { readonly person: string; readonly random: () => number; key: string; ids: string[] };

  /** Adds, replaces and removes random memories in one change. */
  async function change(store: Store, most: number): Promise<void> {
    const { person, random, ids } = store;
    await database.sql.begin(async (sql) => {
      const changeNo = (await beginChange(sql, person)) as string;
      const own = { sql, person, changeNo, eventId: null, newId: uuid };
      for (let no = 0; no < 1 + random() * most; no += 1) {
        const at = Math.floor(random() * ids.length);
        const text = textOf(random, store.key);
        if (ids.length > 5 && random() < 0.2) await removeMemory(own, ids.splice(at, 1)[0] as string);
        else if (ids.length > 0 && random() < 0.3) {
          const rest = { metadata: undefined, categories: ['changed'], expiresAt: undefined };
          const memory = { ...text, source: null, statedAt: null, ...rest };
          await replaceMemory(own, ids[at] as string, memory);
        } else {
          const memoryId = uuid();
          const scope = { agentId: `agent-${Math.floor(random() * 3)}`, runId: null, role: 'user', source: null };
          const rest = {
            categories: [],
            metadata: { size: Math.floor(random() * 4) },
            expiresAt: null,
            statedAt: new Date(),
          };
          await insertMemory(own, { ...text, ...scope, ...rest, memoryId });
          ids.push(memoryId);
        }
      }
    });
  }

  /** The results of a new process: from segments and later changes, and from the memories alone. */
  async function compare({ person, random, key }: Store): Promise<number> {
    const source = memorySource(database);
    const [row] = await database.sql<{ change_no: string }[]>`
      select change_no from memory.people where person = ${person}`;
    const reflects = BigInt(row?.change_no ?? 0);
    await using packed = openPackedIndex({ source, mostBytes: 2 ** 30 });
    await using plain = openPackedIndex({ source: { ...source, segments: async () => undefined }, mostBytes: 2 ** 30 });
    let found = 0;
    for (let no = 0; no < 4; no += 1) {
      const { vector = new Float32Array(key.length), terms } = textOf(random, key);
      const conditions: readonly AttributeCondition[] = [
        { and: [] },
        { path: 'agent_id', op: 'eq', value: 'agent-1' },
        { path: 'metadata.size', op: 'gte', value: 2 },
      ];
      const condition = conditions[no % 3] as AttributeCondition;
      const query: CandidateQuery = {
        ...{ partition: `${key}/${person}`, reflects, labels: 'every', window: 10_000 },
        legs: [
          { kind: 'bm25', terms },
          { kind: 'vector', vector },
        ],
        condition,
      };
      const answer = await packed.candidates(query);
      expect(answer).toEqual(await plain.candidates(query));
      found += answer[1]?.length ?? 0;
    }
    return found;
  }

  const wait = (person: string) =>
    database.sql`insert into memory.packing (person) values (${person}) on conflict do nothing`;
  const segmentsOf = async (person: string) =>
    database.sql<{ rows: number; ended: number }[]>`
      select rows, cardinality(ended) as ended from memory.segments where person = ${person} order by segment`;

  test('a search finds the same memories in packed segments as in the table, after each of many changes', async () => {
    const store: Store = { person: await newPerson(), random: randomFrom(7), key: 'four', ids: [] };
    let found = 0;
    for (let round = 0; round < 30; round += 1) {
      await change(store, 20);
      if (round === 20) {
        const { deleted } = await deleteScope(
          database,
          store.person,
          { agentId: 'agent-0', runId: null },
          { confirmationId: uuid(), note: async () => undefined },
        );
        expect(deleted).toBeGreaterThan(0);
        expect(await segmentsOf(store.person)).toEqual([]);
        const left = await database.sql<{ memory_id: string }[]>`
          select memory_id from memory.memories where person = ${store.person} and deleted_at is null`;
        store.ids = left.map(({ memory_id }) => memory_id);
      }
      if (round % 3 === 1) {
        await wait(store.person);
        expect(await packMemories(database, store.key)).toMatchObject({ person: store.person });
        expect((await segmentsOf(store.person)).length).toBeGreaterThan(0);
      }
      found += await compare(store);
    }
    expect(found).toBeGreaterThan(1_000);
  });

  test('packed segments with vectors of another embedding profile are not read, and the next packing replaces them', async () => {
    const store: Store = { person: await newPerson(), random: randomFrom(9), key: 'four', ids: [] };
    for (let round = 0; round < 5; round += 1) await change(store, 10);
    await wait(store.person);
    await packMemories(database, 'four');
    const segmentsFor = (key: string) => memorySource(database).segments(`${key}/${store.person}`);
    expect(await segmentsFor('four')).toBeDefined();
    expect(await segmentsFor('profile')).toBeUndefined();
    store.key = 'profile';
    await change(store, 10);
    await compare(store);
    await wait(store.person);
    await packMemories(database, 'profile');
    expect(await segmentsFor('profile')).toBeDefined();
    await compare(store);
    const [row] = await database.sql`select distinct profile_id from memory.segments where person = ${store.person}`;
    expect(row).toEqual({ profile_id: 'profile' });
  });

  test('packed segments with the layout of another release are not read, and the next packing replaces them', async () => {
    const store: Store = { person: await newPerson(), random: randomFrom(11), key: 'four', ids: [] };
    for (let round = 0; round < 5; round += 1) await change(store, 10);
    await wait(store.person);
    await packMemories(database, 'four');
    const isOther = database.sql`substr(data, 1, 4) = 'AAAA'`;
    await database.sql`
      update memory.segment_parts set data = 'AAAA' || substr(data, 5) where person = ${store.person} and part = 0`;
    await change(store, 10);
    await compare(store);
    await wait(store.person);
    expect(await packMemories(database, 'four')).toEqual({ person: store.person, segments: 1 });
    const parts = await database.sql`
      select ${isOther} as other from memory.segment_parts where person = ${store.person} and part = 0`;
    expect(parts).toEqual([{ other: false }]);
    await compare(store);
  });

  test('packed segments that are older than a deletion are not read', async () => {
    const store: Store = { person: await newPerson(), random: randomFrom(5), key: 'four', ids: [] };
    for (let round = 0; round < 5; round += 1) await change(store, 10);
    await wait(store.person);
    await packMemories(database, 'four');
    await database.sql`
      update memory.people set change_no = change_no + 1, forgotten_through = change_no + 1 where person = ${store.person}`;
    await database.sql`delete from memory.memories where person = ${store.person} and agent_id = 'agent-1'`;
    expect(await compare(store)).toBeGreaterThan(0);
  });

  test('after every 256th change, the memories of a user are queued for packing until they are packed', async () => {
    const person = await newPerson();
    await database.sql`update memory.people set change_no = 254 where person = ${person}`;
    const store: Store = { person, random: randomFrom(3), key: 'four', ids: [] };
    const waiting = () => database.sql`select person from memory.packing where person = ${person}`;
    await change(store, 3);
    expect(await waiting()).toEqual([]);
    await change(store, 3);
    expect(await waiting()).toHaveLength(1);
    expect(await packMemories(database, 'four')).toEqual({ person, segments: 1 });
    expect(await waiting()).toEqual([]);
    expect(await packMemories(database, 'four')).toBeUndefined();
  });

  test('memories that are deleted during their packing are in no segment', async () => {
    const store: Store = { person: await newPerson(), random: randomFrom(4), key: 'four', ids: [] };
    for (let round = 0; round < 5; round += 1) await change(store, 10);
    await wait(store.person);
    const scope = { agentId: 'agent-1', runId: null };
    // The lock of the person stops the packing at its last write, as the deletion holds it first.
    await using other = opened.database.connect();
    const running = await other.sql.begin(async (sql) => {
      await sql`select 1 from memory.people where person = ${store.person} for update`;
      const packing = packMemories(database, 'four');
      await until('the packing waits for the lock', async () => {
        const [row] = await database.sql<{ count: number }[]>`
          select count(*)::int as count from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`;
        return row !== undefined && row.count > 0;
      });
      await sql`update memory.people set forgotten_through = change_no, packed_through = 0 where person = ${store.person}`;
      await sql`delete from memory.memories where person = ${store.person} and agent_id = ${scope.agentId}`;
      return { packing };
    });
    expect(await running.packing).toEqual({ person: store.person, segments: 0 });
    expect(await segmentsOf(store.person)).toEqual([]);
    expect(await packMemories(database, 'four')).toEqual({ person: store.person, segments: 1 });
    await compare(store);
  });
});
