import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { createPostgresQueue } from '#queue/adapters/postgres/postgres-queue';
import { openEmbeddedIndex } from '#search/adapters/embedded/embedded-index';
import { analyse } from '#search/analysis/analyse';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import { awaitPreloads } from '../ingest/reindex/prepare-version.ts';
import { buildNext } from '../ingest/reindex/run-reindexer.ts';
import { startReindex } from '../ingest/reindex/start-reindex.ts';
import { type OpenedIngest, openIngest } from '../ingest/testing/open-ingest.ts';
import { unwrittenLogger } from '../ingest/testing/unwritten-logger.ts';
import { chunkSource } from './chunk-source.ts';
import { partitionName } from './partition-name.ts';
import { type PreloadedIndex, preparedHints, startPreloading } from './start-preloading.ts';

const pretended = randomUUID();
const never = new AbortController().signal;

describe.skipIf(missingPostgres !== undefined)(onPostgres('loading a version before its switch'), () => {
  let opened: TestDatabase;
  let ingest: OpenedIngest;
  let onStep: (step: string) => void | Promise<void> = () => undefined;

  beforeAll(async () => {
    opened = await openTestDatabase();
  });
  afterAll(() => opened?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    onStep = () => undefined;
    await opened.database.sql`drop schema if exists retrieval cascade`;
  });

  const nameOf = (version: number): string => partitionName({ collectionId: ingest.collectionId, version });
  const build = () => buildNext(ingest.ports, { logger: unwrittenLogger, leaseMs: 30_000 }, never);
  const stateOf = async (version: number) => {
    const [row] = await opened.database.sql<{ state: string }[]>`
      select state from retrieval.index_versions
      where collection_id = ${ingest.collectionId} and number = ${version}`;
    return row?.state;
  };

  /** Registers a replica that loads the version, for a number of seconds. */
  const hold = (version: number, seconds: number) => opened.database.sql`
    insert into retrieval.preloads (collection_id, version, replica, expires_at)
    values (${ingest.collectionId}, ${version}, ${pretended}, clock_timestamp() + ${seconds} * interval '1 second')
    on conflict (collection_id, version, replica) do update set expires_at = excluded.expires_at`;
  const release = () => opened.database.sql`
    update retrieval.preloads set expires_at = clock_timestamp() where replica = ${pretended}`;

  /** A replica with its index; it counts loads and reports the outcome of a load of a version that was being built. */
  async function openReplica(mostBytes = 64 * 2 ** 20) {
    const parts = new AsyncDisposableStack();
    const source = chunkSource(opened.database);
    const loads: string[] = [];
    const index = parts.use(
      openEmbeddedIndex({
        mostBytes,
        source: {
          ...source,
          loadBlocks: async (partition) => {
            loads.push(`${partition} ${await stateOf(2)}`);
            return source.loadBlocks?.(partition);
          },
        },
      }),
    );
    const queue = parts.use(createPostgresQueue(opened.database));
    ingest = await openIngest(opened.database, {
      onStep: (step) => onStep(step),
      hintPrepared: preparedHints(queue, unwrittenLogger),
    });
    const find = async (version: number): Promise<number> => {
      const [row] = await opened.database.sql<{ change_no: string }[]>`
        select change_no from retrieval.collections where collection_id = ${ingest.collectionId}`;
      const [ranking] = await index.candidates({
        partition: nameOf(version),
        reflects: BigInt(row?.change_no ?? 0),
        labels: ['group:acme/staff'],
        legs: [{ kind: 'bm25', terms: analyse('otter') }],
        window: 1_000,
      });
      return ranking?.length ?? 0;
    };
    const ended: boolean[] = [];
    const watched: PreloadedIndex = {
      appliedThrough: index.appliedThrough,
      preload: async (partition, signal) => {
        const isLoaded = await index.preload(partition, signal);
        ended.push(isLoaded);
        return isLoaded;
      },
    };
    const preload = () =>
      parts.use(
        startPreloading({
          database: opened.database,
          index: watched,
          queue,
          logger: unwrittenLogger,
          replica: randomUUID(),
        }),
      );
    return { index, loads, ended, find, preload, [Symbol.asyncDispose]: () => parts.disposeAsync() };
  }

  test('a replica that serves a collection has its next version in memory before it becomes active', async () => {
    await using replica = await openReplica();
    for (let at = 0; at < 5; at += 1) await ingest.submit({ docId: `d${at}`, text: `otter ${at}` });
    await ingest.drain();
    expect(await replica.find(1)).toBe(5);
    replica.preload();
    let changed = false;
    onStep = async (step) => {
      if (step !== 'prepared' || changed) return;
      changed = true;
      await hold(2, 3_600);
      // A document that becomes live between the proof and the switch is followed.
      await ingest.submit({ docId: 'late', text: 'otter late' }, { docId: 'd0' });
      await ingest.drain();
    };
    await startReindex(opened.database, ingest.collectionId, undefined);
    const building = build();
    await until('the replica has loaded', () => replica.index.appliedThrough(nameOf(2)) !== undefined);
    expect(await stateOf(2)).toBe('building');
    await release();
    expect(await building).toBe('switched');
    expect(changed).toBe(true);
    expect(await stateOf(2)).toBe('active');
    expect(await replica.find(2)).toBe(5);
    expect(replica.loads).toEqual([`${nameOf(1)} undefined`, `${nameOf(2)} building`]);
    expect(await replica.find(1)).toBe(5);
    expect(await opened.database.sql`select 1 from retrieval.preloads`).toHaveLength(0);
  });

  test('a replica that does not serve the collection loads nothing, and neither does a replica without enough memory', async () => {
    await using idle = await openReplica();
    await ingest.submit({ docId: 'a', text: 'otter' });
    await ingest.drain();
    idle.preload();
    await startReindex(opened.database, ingest.collectionId, undefined);
    expect(await build()).toBe('switched');
    expect(idle.loads).toEqual([]);
    expect(await idle.find(2)).toBe(1);
    const bytes = idle.index.bytes();
    await opened.database.sql`drop schema if exists retrieval cascade`;
    await using narrow = await openReplica(bytes);
    await ingest.submit({ docId: 'a', text: 'otter' });
    await ingest.drain();
    expect(await narrow.find(1)).toBe(1);
    narrow.preload();
    onStep = async (step) => {
      if (step === 'prepared') await hold(2, 3_600);
    };
    await startReindex(opened.database, ingest.collectionId, undefined);
    const building = build();
    await until('the load is abandoned', () => narrow.ended.length > 0);
    await release();
    expect(await building).toBe('switched');
    expect(narrow.ended).toEqual([false]);
    expect(narrow.loads).toEqual([`${nameOf(1)} undefined`, `${nameOf(2)} building`]);
    expect(narrow.index.appliedThrough(nameOf(1))).toBeDefined();
    expect(narrow.index.appliedThrough(nameOf(2))).toBeUndefined();
    expect(await narrow.find(2)).toBe(1);
  });

  test('the switch to a new version of a collection waits for a replica that loads it, and not for a replica that has died', async () => {
    await using _replica = await openReplica();
    await ingest.submit({ docId: 'a', text: 'otter' });
    await ingest.drain();
    await startReindex(opened.database, ingest.collectionId, undefined);
    const { sql } = opened.database;
    let looks = 0;
    const counted = new Proxy(sql, {
      apply(target, self, args) {
        looks += 1;
        return Reflect.apply(target, self, args);
      },
    });
    let isSwitched = false;
    const wait = async (): Promise<void> => {
      await awaitPreloads({ sql: counted }, { collectionId: ingest.collectionId, version: 2 }, never);
      isSwitched = true;
    };
    await hold(2, 3_600);
    const waiting = wait();
    await until('two looks were made', () => looks >= 2);
    expect(isSwitched).toBe(false);
    await release();
    await waiting;
    looks = 0;
    await wait();
    expect(looks).toBe(1);
  });

  test('a version of a collection that became incomplete again is not searched until it is complete, and its earlier load is dropped', async () => {
    await using replica = await openReplica();
    const source = chunkSource(opened.database);
    await ingest.submit({ docId: 'a', text: 'otter' }, { docId: 'b', text: 'otter' });
    await ingest.drain();
    await startReindex(opened.database, ingest.collectionId, undefined);
    const { sql } = opened.database;
    let first: bigint | undefined;
    onStep = async (step) => {
      if (step !== 'prepared') return;
      const loaded = await source.load(nameOf(2));
      if (first !== undefined) {
        expect(await source.changesAfter(nameOf(2), first)).toEqual({ kind: 'forgotten' });
        return;
      }
      first = loaded?.upTo;
      await sql`delete from retrieval.indexed_documents where version = 2 and doc = (select min(doc) from retrieval.documents)`;
    };
    expect(await source.load(nameOf(2))).toBeUndefined();
    expect(await build()).toBe('switched');
    expect(first).toBeDefined();
    expect(await source.changesAfter(nameOf(2), first ?? 0n)).toEqual({ kind: 'forgotten' });
    expect(await replica.find(2)).toBe(2);
  });
});
