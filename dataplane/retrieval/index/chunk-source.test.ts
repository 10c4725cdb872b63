import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openEmbeddedIndex } from '#search/adapters/embedded/embedded-index';
import { analyse } from '#search/analysis/analyse';
import type { AttributeCondition } from '#search/condition';
import { readPacked } from '#search/packed/read-packed';
import { SearchUnavailableError } from '#search/search-error';
import type { Database } from '#sql/connect';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import { insertDocuments } from '../ingest/testing/insert-documents.ts';
import { type OpenedIngest, openIngest } from '../ingest/testing/open-ingest.ts';
import { chunkSource } from './chunk-source.ts';
import { partitionName } from './partition-name.ts';

const mostBytes = 64 * 2 ** 20;

/** A database that records the number of rows of its largest answer to one statement. */
function measured(database: Database): { readonly database: Database; readonly mostRows: () => number } {
  let most = 0;
  const sql = new Proxy(database.sql, {
    apply(target, self, args) {
      const statement = Reflect.apply(target, self, args);
      if (!(statement instanceof Promise)) return statement;
      // The driver resolves a statement by this member.
      const sent = statement as unknown as { resolve: (rows: readonly unknown[]) => void };
      const { resolve } = sent;
      sent.resolve = (rows) => {
        most = Math.max(most, rows.length);
        resolve(rows);
      };
      return statement;
    },
  });
  return { database: { ...database, sql }, mostRows: () => most };
}

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
  const textsOf = async () =>
    (await opened.database.sql<{ text: string }[]>`select text from retrieval.chunks`).map(({ text }) => text);
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

  test('unpacked chunks of an earlier release are loaded together with packed ones', async () => {
    const long = Array.from({ length: 12_000 }, (_, at) => `слово${at} отпуск.`).join(' ');
    await put('old', long);
    for (let at = 0; at < 120; at += 1) await ingest.submit({ docId: `old${at}`, text: `отпуск ${at}`, key: 'one' });
    await ingest.drain();
    await opened.database.sql`update retrieval.chunks set packed = null`;
    await put('new', long);
    await put('short', 'отпуск');
    const [row] = await opened.database.sql<{ count: string; packed: string }[]>`
      select count(*) as count, count(packed) as packed from retrieval.chunks`;
    expect(Number(row?.packed)).toBeGreaterThan(10);
    await using index = open();
    const found = await find(index, 'отпуск');
    expect(found).toHaveLength(Number(row?.count));
    expect(new Set(found).size).toBe(new Set(await textsOf()).size);
  });

  test('a block of chunks has the vectors, labels and attributes that their rows have', async () => {
    await ingest.submit({ docId: 'a', text: 'отпуск '.repeat(600), metadata: { source: 'wiki' } });
    await ingest.drain();
    const partition = partitionName({ collectionId: ingest.collectionId, version: 1 });
    const source = chunkSource(opened.database);
    const entries = (await Array.fromAsync((await source.load(partition))?.entries ?? [])).flat();
    const blocks = (await Array.fromAsync((await source.loadBlocks?.(partition))?.blocks ?? [])).flat();
    expect(entries.length).toBeGreaterThan(3);
    const expected = new Map(entries.map((entry) => [entry.id, entry]));
    for (const { packed, scopeOf } of blocks) {
      const rows = readPacked(packed);
      for (const [at, id] of (rows?.ids ?? []).entries()) {
        const entry = expected.get(id);
        const { group, labels, attributes } = scopeOf(at);
        expect({ group, labels, attributes }).toEqual({
          group: entry?.group,
          labels: entry?.labels,
          attributes: entry?.attributes,
        });
        expect(rows?.vectors.slice(at * rows.dimensions, (at + 1) * rows.dimensions)).toEqual(entry?.vector);
        expected.delete(id);
      }
    }
    expect(expected.size).toBe(0);
  });

  test('more changed documents than one answer contains are all applied, in groups', async () => {
    await using index = open();
    expect(await find(index, 'отпуск')).toEqual([]);
    for (let at = 0; at < 60; at += 1) await ingest.submit({ docId: `d${at}`, text: `отпуск ${at}`, key: 'one' });
    await ingest.drain();
    expect(await find(index, 'отпуск')).toHaveLength(60);
  });

  test('changes of documents with many chunks are all read, in answers and statements of a bounded size', async () => {
    const measuring = measured(opened.database);
    const source = chunkSource(measuring.database);
    let after = await changeNo();
    await insertDocuments(opened.database, ingest.collectionId, { documents: 60, chunksOfEach: 500 });
    await insertDocuments(opened.database, ingest.collectionId, { documents: 1, chunksOfEach: 2_500 });
    await insertDocuments(opened.database, ingest.collectionId, { documents: 40, chunksOfEach: 1 });
    const puts: number[] = [];
    const groups = new Map<string, ReadonlySet<string>>();
    for (let more = true; more; ) {
      const found = await source.changesAfter(partitionName({ collectionId: ingest.collectionId, version: 1 }), after);
      if (found?.kind !== 'changes') throw new Error('the changes are unknown');
      let put = 0;
      for await (const page of found.changes) {
        const own = page.filter(({ kind }) => kind === 'put').length;
        expect(own).toBeLessThanOrEqual(1_000);
        put += own;
        for (const change of page) if (change.kind === 'retain') groups.set(change.group, new Set(change.ids));
      }
      puts.push(put);
      ({ more, upTo: after } = found);
    }
    expect(puts).toEqual([...Array.from({ length: 15 }, () => 2_000), 2_500, 40]);
    expect(measuring.mostRows()).toBe(1_000);
    expect(after).toBe(await changeNo());
    const sizes = [...groups.values()].map(({ size }) => size);
    expect(sizes).toEqual([...Array.from({ length: 60 }, () => 500), 2_500, ...Array.from({ length: 40 }, () => 1)]);
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

  test('the minimum size of an active version is that of its vectors; another version has none', async () => {
    const { sql } = opened.database;
    const leastBytes = (version: number) =>
      chunkSource(opened.database).leastBytes?.(partitionName({ collectionId: ingest.collectionId, version }));
    expect(await leastBytes(1)).toBeUndefined();
    await put('a', 'отпуск '.repeat(100));
    await put('b', 'отпуск');
    const [row] = await sql<{ bytes: number }[]>`
      select sum(octet_length(vector))::float8 as bytes from retrieval.chunks`;
    expect(row?.bytes).toBeGreaterThan(5 * 32);
    expect(await leastBytes(1)).toBe(row?.bytes);
    expect(await leastBytes(2)).toBeUndefined();
    await using index = openEmbeddedIndex({ source: chunkSource(opened.database), mostBytes: (row?.bytes ?? 0) - 1 });
    const fault = (error: unknown) => (error as SearchUnavailableError).fault;
    expect(await find(index, 'отпуск').catch(fault)).toBe('too_large');
  });

  test('a query without a reachable database is refused, never answered as empty', async () => {
    const database = opened.connect();
    await using index = openEmbeddedIndex({ source: chunkSource(database), mostBytes });
    await database[Symbol.asyncDispose]();
    await expect(find(index, 'отпуск')).rejects.toBeInstanceOf(SearchUnavailableError);
  });
});
