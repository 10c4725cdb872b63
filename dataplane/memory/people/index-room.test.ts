import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPackedIndex } from '#search/adapters/packed/packed-index';
import { partitionBytes } from '#search/adapters/packed/packed-partitions';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import type { TestDatabase } from '#sql/testing/test-server';
import { memorySource } from '../search/memory-source.ts';
import { openMemory } from '../testing/open-memory.ts';
import { indexRoomOf } from './index-room.ts';

const testDimension = 64;
const given = (content: string, more: object = {}) => ({
  messages: [{ role: 'user', content }],
  agent_id: 'tutor',
  infer: false,
  ...more,
});
/** Texts of equal length with equally many terms, so that their memories need equally much of the index. */
const texts = ['bread and tea', 'water and ice', 'stool and mat', 'chair and bed'];

describe('the share of the index for one person', () => {
  test('the share of the index for one person is two thirds of the limit, because replaced memories use the rest until they are packed again', () => {
    expect(indexRoomOf(300, 8)).toEqual({ mostBytes: 200, dimension: 8 });
    expect(indexRoomOf(300, undefined)).toEqual({ mostBytes: 200, dimension: 0 });
  });
});

describe.skipIf(missingPostgres !== undefined)(onPostgres('the bound of the index'), () => {
  let database: TestDatabase;
  let ofOne: number;
  const bytesOf = async (user: string) => {
    const [row] = await database.database.sql<{ bytes: number; missing: number }[]>`
      select index_bytes::int as bytes, without_vector as missing from memory.people where user_key like ${`%"${user}"]`}`;
    return row;
  };
  /** Opens the service with an index that has room for `bytes` of one person. */
  const withRoom = (bytes: number) => openMemory({ database, config: { indexBytes: Math.ceil((bytes * 3) / 2) } });

  beforeAll(async () => {
    database = await openTestDatabase();
    await using memory = await openMemory({ database });
    await memory.add({ user: 'measured' }, given(texts[0] as string));
    ofOne = (await bytesOf('measured'))?.bytes as number;
  });
  afterAll(() => database?.[Symbol.asyncDispose]());

  test('an add that fills the index is stored, and the next add is refused before its messages are stored', async () => {
    await using memory = await withRoom(3 * ofOne);
    const user = { user: 'ann' };
    for (const text of texts.slice(0, 3))
      expect(await memory.add(user, given(text))).toMatchObject({ status: 'SUCCEEDED' });
    expect((await bytesOf('ann'))?.bytes).toBe(3 * ofOne);
    const key = { 'idempotency-key': 'full' };
    const refused = await memory.call(user, 'POST', '/v1/memories', given('chair and bed'), key);
    expect(refused).toMatchObject({ status: 409, json: { code: 'index_full' } });
    expect(refused.headers.get('retry-after')).toBeNull();
    expect(await memory.find(user, 'stool')).toContain('stool and mat');
    expect(await memory.add({ user: 'other' }, given('chair and bed'))).toMatchObject({ status: 'SUCCEEDED' });
    const [oldest] = (await memory.call(user, 'GET', '/v1/memories?agent_id=tutor')).json['results'] as {
      id: string;
    }[];
    expect((await memory.call(user, 'DELETE', `/v1/memories/${oldest?.id}`)).status).toBe(200);
    expect(await memory.add(user, given('chair and bed'))).toMatchObject({ status: 'SUCCEEDED' });
  });

  test('an add that would exceed the index is FAILED and stores nothing, and an add that reaches the limit is stored', async () => {
    await using memory = await withRoom(3 * ofOne + 1);
    const user = { user: 'bob' };
    const messages = texts.slice(0, 4).map((content) => ({ role: 'user', content }));
    const failed = {
      status: 'FAILED',
      memory_ids: [],
      error: 'the memories of the user fill the index: delete memories',
    };
    expect(await memory.add(user, { ...given(''), messages })).toMatchObject(failed);
    expect(await bytesOf('bob')).toEqual({ bytes: 0, missing: 0 });
    expect(await memory.add(user, { ...given(''), messages: messages.slice(0, 3) })).toMatchObject({
      status: 'SUCCEEDED',
    });
    expect(await memory.add(user, given(texts[3] as string))).toMatchObject(failed);
    const text = await (await fetch(`${memory.adminUrl}/metrics`)).text();
    expect(/^portcullis_memory_event_attempts_total\{[^}]*end="index_full"[^}]*\} (\d+)/m.exec(text)?.[1]).toBe('2');
    expect(await memory.find(user, 'stool')).toContain('stool and mat');
  });

  test('a change that needs more of a full index is refused, and a change that needs the same size is made', async () => {
    await using memory = await withRoom(ofOne);
    const user = { user: 'cid' };
    const event = await memory.add(user, given(texts[0] as string));
    const path = `/v1/memories/${(event['memory_ids'] as readonly string[])[0]}`;
    const more = await memory.call(user, 'PUT', path, { text: 'bread and tea and cakes' });
    expect(more).toMatchObject({ status: 409, json: { code: 'index_full' } });
    expect((await memory.call(user, 'GET', path)).json['memory']).toBe(texts[0]);
    expect((await memory.call(user, 'PUT', path, { text: texts[1] })).status).toBe(200);
  });

  test('a memory without a vector counts with the vector that it will get', async () => {
    await using memory = await withRoom(ofOne);
    const user = { user: 'dan' };
    await memory.add(user, given(texts[0] as string));
    const { sql } = database.database;
    await sql`
      update memory.memories set vector = null, embed_after = 'infinity'
      where person = (select person from memory.people where user_key like '%"dan"]')`;
    expect(await bytesOf('dan')).toEqual({ bytes: ofOne - testDimension, missing: 1 });
    const refused = await memory.call(user, 'POST', '/v1/memories', given('chair and bed'));
    expect(refused).toMatchObject({ status: 409, json: { code: 'index_full' } });
  });

  test('the estimated size is at least the size that the index needs, and is 0 after everything was deleted', async () => {
    await using memory = await openMemory({ database });
    const user = { user: 'eve' };
    for (let at = 0; at < 60; at += 1) {
      const metadata = { [`key-${at % 7}`]: `Wert ${at}`, nested: { at, list: [at, `no ${at}`, true] } };
      const categories = [`kind ${at % 5}`, `Kind ${at}`];
      const text = Array.from({ length: 1 + (at % 9) }, (_, word) => `слово${at}x${word} word${at}y${word}`).join(' ');
      const more = at % 3 === 0 ? {} : { metadata, categories, run_id: `run ${at}` };
      expect(await memory.add(user, given(text, more))).toMatchObject({ status: 'SUCCEEDED' });
    }
    const [row] = await database.database.sql<{ person: string; newest: string; key: string }[]>`
      select person, change_no as newest, (select max(profile_id) from memory.memories m where m.person = p.person) as key
      from memory.people p where user_key like '%"eve"]'`;
    const source = memorySource(database.database);
    await using index = openPackedIndex({ source, mostBytes: 64 * 1_048_576 });
    await index.candidates({
      partition: `${row?.key}/${row?.person}`,
      reflects: BigInt(row?.newest as string),
      labels: 'every',
      legs: [{ kind: 'bm25', terms: ['word'] }],
      window: 10,
    });
    const estimated = (await bytesOf('eve'))?.bytes as number;
    const held = index.bytes() - partitionBytes;
    expect(held).toBeLessThanOrEqual(estimated);
    expect(estimated).toBeLessThan(4 * held);
    await memory.call(user, 'DELETE', '/v1/memories?agent_id=tutor');
    expect(await bytesOf('eve')).toEqual({ bytes: 0, missing: 0 });
  });
});
