import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openEmbeddedIndex } from '#search/adapters/embedded/embedded-index';
import { analyse } from '#search/analysis/analyse';
import type { AttributeCondition } from '#search/condition';
import { SearchUnavailableError } from '#search/search-error';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import { type OpenedIngest, openIngest } from '../ingest/testing/open-ingest.ts';
import { chunkSource } from './chunk-source.ts';
import { partitionName } from './partition-name.ts';

const mostBytes = 64 * 2 ** 20;

describe.skipIf(missingPostgres !== undefined)(onPostgres('the embedded index over the chunks of PostgreSQL'), () => {
  let opened: TestDatabase;
  let ingest: OpenedIngest;

  beforeAll(async () => {
    opened = await openTestDatabase();
  });
  afterAll(async () => {
    await opened[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    await opened.database.sql`drop schema if exists retrieval cascade`;
    ingest = await openIngest(opened.database);
  });

  const open = () => openEmbeddedIndex({ source: chunkSource(opened.database), mostBytes });
  const changeNo = async (): Promise<bigint> => {
    const [row] = await opened.database.sql<{ change_no: string }[]>`
      select change_no from retrieval.collections where collection_id = ${ingest.collectionId}`;
    return BigInt(row?.change_no ?? 0);
  };
  /** Texts of the chunks that a replica finds immediately after a commit. */
  const find = async (index: ReturnType<typeof open>, words: string, condition?: AttributeCondition, version = 1) => {
    const [ranking] = await index.candidates({
      partition: partitionName({ collectionId: ingest.collectionId, version }),
      reflects: await changeNo(),
      labels: ['group:acme/staff'],
      legs: [{ kind: 'bm25', terms: analyse(words) }],
      window: 10_000,
      ...(condition === undefined ? {} : { condition }),
    });
    const ids = (ranking ?? []).map(({ id }) => id);
    const rows = await opened.database.sql<{ chunk_id: string; text: string }[]>`
      select chunk_id, text from retrieval.chunks where chunk_id = any(${ids})`;
    return ids.map((id) => rows.find((row) => row.chunk_id === id)?.text);
  };
  let key = 0;
  const put = async (docId: string, text: string) => {
    key += 1;
    await ingest.submit({ docId, text, key: String(key) });
    await ingest.drain();
  };

  test('two replicas find everything committed before their query: a new document, its next version, and no deleted one', async () => {
    await using one = open();
    await using other = open();
    for (const index of [one, other]) expect(await find(index, 'отпуск')).toEqual([]);
    await put('a', 'Правила отпуска');
    for (const index of [one, other]) expect(await find(index, 'отпуск')).toEqual(['Правила отпуска']);
    await put('a', 'Новые правила отпусков');
    await put('b', 'Командировки');
    for (const index of [one, other]) expect(await find(index, 'отпуск командировка')).toHaveLength(2);
    await ingest.submit({ docId: 'a' });
    await ingest.drain();
    for (const index of [one, other]) expect(await find(index, 'отпуск командировка')).toEqual(['Командировки']);
  });

  test('a replica that starts later loads every chunk of a document over several pages, and then follows changes', async () => {
    const long = Array.from({ length: 12_000 }, (_, at) => `слово${at} отпуск.`).join(' ');
    await put('long', long);
    const [row] = await opened.database.sql<{ count: string }[]>`select count(*) as count from retrieval.chunks`;
    const chunks = Number(row?.count);
    expect(chunks).toBeGreaterThan(1_000);
    await using index = open();
    expect(await find(index, 'отпуск')).toHaveLength(chunks);
    await put('long', 'отпуск');
    expect(await find(index, 'отпуск')).toEqual(['отпуск']);
  });

  test('more changed documents than one answer contains are all applied, in groups', async () => {
    await using index = open();
    expect(await find(index, 'отпуск')).toEqual([]);
    for (let at = 0; at < 60; at += 1) await ingest.submit({ docId: `d${at}`, text: `отпуск ${at}`, key: 'one' });
    await ingest.drain();
    expect(await find(index, 'отпуск')).toHaveLength(60);
  });

  test('a condition compares the id and the metadata of a document', async () => {
    await using index = open();
    await ingest.submit(
      { docId: 'a', text: 'отпуск в офисе', metadata: { source: 'wiki' } },
      { docId: 'b', text: 'отпуск дома', metadata: { source: 'mail' } },
    );
    await ingest.drain();
    const source = { path: 'metadata.source', op: 'eq', value: 'mail' } as const;
    expect(await find(index, 'отпуск', source)).toEqual(['отпуск дома']);
    expect(await find(index, 'отпуск', { path: 'doc_id', op: 'in', value: ['a'] })).toEqual(['отпуск в офисе']);
  });

  test('a version that is being built, an unknown version and a deleted collection are refused as absent', async () => {
    await put('a', 'отпуск');
    const { sql } = opened.database;
    const refused = async (version: number) => {
      await using index = open();
      return find(index, 'отпуск', undefined, version).catch((error) => (error as SearchUnavailableError).fault);
    };
    await sql`insert into retrieval.index_versions (collection_id, number, embedding_profile_id, state)
      values (${ingest.collectionId}, 2, 'test-profile', 'building')`;
    expect([await refused(1), await refused(2), await refused(3)]).toEqual([['отпуск'], 'absent', 'absent']);
    await sql`update retrieval.collections set status = 'deleted'`;
    expect(await refused(1)).toBe('absent');
  });

  test('a query without a reachable database is refused, never answered as empty', async () => {
    const database = opened.connect();
    await using index = openEmbeddedIndex({ source: chunkSource(database), mostBytes });
    await database[Symbol.asyncDispose]();
    await expect(find(index, 'отпуск')).rejects.toBeInstanceOf(SearchUnavailableError);
  });
});
