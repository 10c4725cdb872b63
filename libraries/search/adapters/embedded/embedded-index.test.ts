import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CandidateQuery, IndexChange } from '../../ports.ts';
import { SearchUnavailableError } from '../../search-error.ts';
import { ExpectedSearch } from '../../testing/expected-search.ts';
import { bothLegs, entryOf, replaceGroup, unit, writes } from '../../testing/generated-entries.ts';
import { openMemoryWorld } from '../../testing/memory-world.ts';
import { searchIndexSuite } from '../../testing/search-index-suite.ts';

const legs = [
  { kind: 'bm25', terms: ['книг'] },
  { kind: 'vector', vector: unit(1, 0, 0, 0) },
] as const;
const queryOf = (partition: string, reflects: bigint): CandidateQuery => ({
  partition,
  reflects,
  labels: 'every',
  legs,
  window: 10_000,
});
const neverAborted = new AbortController().signal;
const putOf = (id: string): IndexChange => ({ kind: 'put', entry: entryOf(id) });
const putMany = (count: number, from = 0): readonly IndexChange[] =>
  Array.from({ length: count }, (_, at) => putOf(`e${String(from + at).padStart(5, '0')}`));
/** The change with new ids, because an id never gets other content. */
const renewed = (change: IndexChange): IndexChange =>
  change.kind === 'put'
    ? { kind: 'put', entry: { ...change.entry, id: `new-${change.entry.id}` } }
    : { ...change, ids: change.ids.map((id) => `new-${id}`) };
const fault = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'answered',
    (error: unknown) => (error instanceof SearchUnavailableError ? error.fault : error),
  );
type World = ReturnType<typeof openMemoryWorld>;
const found = async (world: World, partition: string, reflects: bigint) => {
  const rankings = await world.index.candidates(queryOf(partition, reflects));
  return rankings.map((ranking) => ranking.map(({ id }) => id));
};

describe('the embedded search index', () => {
  searchIndexSuite(async () => openMemoryWorld(), { runs: 100 });

  test('a partition that its source does not know is refused as absent, and served once it exists', async () => {
    await using world = openMemoryWorld();
    expect(await fault(world.index.candidates(queryOf('p', 0n)))).toBe('absent');
    const reflects = await world.commit('p', []);
    expect(await found(world, 'p', reflects)).toEqual([[], []]);
  });

  test('a partition is loaded once for queries at the same time, and follows changes without another load', async () => {
    await using world = openMemoryWorld();
    const first = await world.commit('p', putMany(10));
    await Promise.all([found(world, 'p', first), found(world, 'p', first), found(world, 'p', first)]);
    const second = await world.commit('p', putMany(1, 10));
    expect((await found(world, 'p', second))[0]).toHaveLength(11);
    expect(world.source.loads).toBe(1);
    expect(world.index.appliedThrough('p')).toBe(second);
  });

  test('changes that are committed while a partition is loaded are in the first answer', async () => {
    await using world = openMemoryWorld();
    const first = await world.commit('p', [...putMany(9), ...replaceGroup('d', [entryOf('d-1', { group: 'd' })])]);
    let pages = 0;
    world.source.beforePage = async () => {
      pages += 1;
      if (pages === 2) {
        world.source.commit('p', replaceGroup('d', [entryOf('a-2', { group: 'd' }), entryOf('z-2', { group: 'd' })]));
        world.source.commit('p', replaceGroup('e00008', []));
        world.source.commit('p', [putOf('a-new')]);
      }
    };
    const expected = ['a-2', 'a-new', ...putMany(8).map((_, at) => `e0000${at}`), 'z-2'];
    expect(await found(world, 'p', first)).toEqual([expected, expected]);
  });

  test('the first answer has all random commits between the pages of a load, and no entry that they replaced', async () => {
    await fc.assert(
      fc.asyncProperty(writes, writes, bothLegs, async (before, meanwhile, given) => {
        await using world = openMemoryWorld({ pageSize: 2, groupsAtOnce: 2 });
        const expected = new ExpectedSearch();
        const commit = (changes: readonly IndexChange[]) => {
          expected.apply('p', changes);
          return world.source.commit('p', changes);
        };
        for (const changes of before) commit(changes);
        const waiting = meanwhile.map((changes) => changes.map(renewed));
        world.source.beforePage = async () => {
          const next = waiting.shift();
          if (next !== undefined) commit(next);
        };
        const query: CandidateQuery = { ...queryOf('p', 1n), legs: given };
        const rankings = await world.index.candidates(query);
        const ids = rankings.map((ranking) => ranking.map(({ id }) => id).sort());
        expect(ids).toEqual(given.map((leg) => expected.found(query, leg)));
      }),
    );
  });

  test('a failed load is refused as unreachable, and the next query loads again', async () => {
    await using world = openMemoryWorld();
    const reflects = await world.commit('p', putMany(10));
    world.source.beforePage = async () => {
      world.source.failure = new Error('lost in the middle');
    };
    expect(await fault(world.index.candidates(queryOf('p', reflects)))).toBe('unreachable');
    world.source.beforePage = undefined;
    world.source.failure = undefined;
    expect((await found(world, 'p', reflects))[0]).toHaveLength(10);
  });

  test('without its source a loaded partition answers queries for applied changes and refuses queries for later ones', async () => {
    await using world = openMemoryWorld();
    const reflects = await world.commit('p', putMany(2));
    await found(world, 'p', reflects);
    world.source.failure = new Error('the database is away');
    expect((await found(world, 'p', reflects))[0]).toHaveLength(2);
    expect(await fault(world.index.candidates(queryOf('p', reflects + 1n)))).toBe('unreachable');
  });

  test('a change that the source does not report in time is refused as behind', async () => {
    await using world = openMemoryWorld();
    const reflects = await world.commit('p', putMany(2));
    expect(await fault(world.index.candidates(queryOf('p', reflects + 1n)))).toBe('behind');
  });

  test('a partition whose changes the source no longer has is loaded again', async () => {
    await using world = openMemoryWorld();
    await found(world, 'p', await world.commit('p', putMany(2)));
    const reflects = await world.commit('p', replaceGroup('e00000', []));
    world.source.forgottenThrough = reflects;
    expect(await found(world, 'p', reflects)).toEqual([['e00001'], ['e00001']]);
    expect(world.source.loads).toBe(2);
  });

  test('a refresh applies changes before a query, and does not load a partition', async () => {
    await using world = openMemoryWorld();
    const first = await world.commit('p', putMany(2));
    await world.index.refresh('p');
    expect(world.index.appliedThrough('p')).toBeUndefined();
    await found(world, 'p', first);
    const second = await world.commit('p', putMany(1, 2));
    await world.index.refresh('p');
    expect(world.index.appliedThrough('p')).toBe(second);
    world.source.failure = new Error('the database is away');
    await world.index.refresh('p');
    expect((await found(world, 'p', second))[0]).toHaveLength(3);
  });

  test('a partition with many ended rows is loaded again, and answers queries meanwhile', async () => {
    await using world = openMemoryWorld();
    let reflects = await world.commit('p', putMany(3));
    await found(world, 'p', reflects);
    for (let round = 0; round < 400; round += 1) reflects = await world.commit('p', putMany(3));
    while (world.source.loads < 2) {
      reflects = await world.commit('p', putMany(3));
      expect((await found(world, 'p', reflects))[0]).toHaveLength(3);
    }
    expect((await found(world, 'p', reflects))[0]).toHaveLength(3);
  });

  test('the partition that was used longest ago is evicted at the byte limit, and loaded again by a later query', async () => {
    const size = await (async () => {
      await using world = openMemoryWorld();
      await found(world, 'p', await world.commit('p', putMany(100)));
      return world.index.bytes();
    })();
    await using world = openMemoryWorld({ mostBytes: size * 2 });
    for (const name of ['a', 'b', 'c']) await world.commit(name, putMany(100));
    for (const name of ['a', 'b', 'a', 'c']) await found(world, name, 1n);
    expect(['a', 'b', 'c'].map((name) => world.index.appliedThrough(name))).toEqual([1n, undefined, 1n]);
    expect(world.index.bytes()).toBeLessThanOrEqual(size * 2);
    expect((await found(world, 'b', 1n))[1]).toHaveLength(100);
    expect(world.source.loads).toBe(4);
  });

  test('a preloaded partition follows changes, and its first query loads nothing', async () => {
    await using world = openMemoryWorld();
    await world.commit('p', putMany(10));
    expect(await world.index.preload('p', neverAborted)).toBe(true);
    expect(await world.index.preload('p', neverAborted)).toBe(true);
    const reflects = await world.commit('p', putMany(1, 10));
    expect((await found(world, 'p', reflects))[0]).toHaveLength(11);
    expect(world.source.loads).toBe(1);
    expect(await fault(world.index.preload('unknown', neverAborted))).toBe('absent');
  });

  test('a query waits for a preload of its partition, and loads the partition itself if the preload is cancelled', async () => {
    await using world = openMemoryWorld();
    const reflects = await world.commit('p', putMany(10));
    const stop = new AbortController();
    for (const isGivenUp of [false, true]) {
      let query: ReturnType<typeof found> | undefined;
      world.source.beforePage = async () => {
        query ??= found(world, 'p', reflects);
        if (isGivenUp) stop.abort();
      };
      expect(await world.index.preload('p', stop.signal)).toBe(!isGivenUp);
      expect((await query)?.[0]).toHaveLength(10);
      await world.index.drop('p');
    }
    expect(world.source.loads).toBe(3);
  });

  test('a preload evicts nothing, fits up to the limit, and yields its memory to queries', async () => {
    const sizeOf = async (count: number) => {
      await using world = openMemoryWorld();
      await found(world, 'p', await world.commit('p', putMany(count)));
      return world.index.bytes();
    };
    const size = await sizeOf(100);
    for (const [mostBytes, isLoaded] of [
      [size * 2, true],
      [size * 2 - 1, false],
    ] as const) {
      await using world = openMemoryWorld({ mostBytes });
      for (const name of ['a', 'b', 'c']) await world.commit(name, putMany(100));
      await found(world, 'a', 1n);
      expect(await world.index.preload('b', neverAborted)).toBe(isLoaded);
      const loaded = () => ['a', 'b', 'c'].filter((name) => world.index.appliedThrough(name) !== undefined);
      expect(loaded()).toEqual(isLoaded ? ['a', 'b'] : ['a']);
      // A preloaded partition is evicted before a partition that a query used.
      await found(world, 'c', 1n);
      expect(loaded()).toEqual(isLoaded ? ['a', 'c'] : ['c']);
    }
    await using world = openMemoryWorld({ mostBytes: size * 2 });
    for (const name of ['a', 'b', 'c']) await world.commit(name, putMany(100));
    await found(world, 'a', 1n);
    let query: Promise<unknown> | undefined;
    let pages = 0;
    world.source.beforePage = async () => {
      pages += 1;
      if (pages === 20) query = found(world, 'c', 1n);
      if (pages > 20 && pages % 2 === 0) await new Promise(setImmediate);
    };
    expect(await world.index.preload('b', neverAborted)).toBe(false);
    await query;
    expect(['a', 'b', 'c'].map((name) => world.index.appliedThrough(name))).toEqual([1n, undefined, 1n]);
  });

  test('a partition as large as the limit is served, and a larger one is refused, loaded or grown', async () => {
    const measured = openMemoryWorld();
    await found(measured, 'p', await measured.commit('p', putMany(100)));
    await using world = openMemoryWorld({ mostBytes: measured.index.bytes() });
    const first = await world.commit('p', putMany(100));
    expect((await found(world, 'p', first))[0]).toHaveLength(100);
    const second = await world.commit('p', putMany(1, 100));
    expect(await fault(world.index.candidates(queryOf('p', second)))).toBe('too_large');
    expect(world.index.bytes()).toBe(0);
  });

  test('a partition that is certainly larger than the limit is refused before it is read, and evicts no other partition', async () => {
    await using world = openMemoryWorld({ mostBytes: 1_000 * 2 ** 10 });
    world.source.bytesOfEntry = 2 ** 10;
    const small = await world.commit('small', putMany(10));
    await found(world, 'small', small);
    const large = await world.commit('large', putMany(1_001));
    for (const _ of [1, 2]) expect(await fault(world.index.candidates(queryOf('large', large)))).toBe('too_large');
    expect(world.source.loads).toBe(1);
    expect(world.index.loaded()).toEqual(['small']);
  });

  test('a partition that was too large is read again only after it has become smaller', async () => {
    const measured = openMemoryWorld();
    await found(measured, 'p', await measured.commit('p', putMany(640)));
    await using world = openMemoryWorld({ mostBytes: measured.index.bytes() });
    world.source.bytesOfEntry = 1;
    const small = await world.commit('small', putMany(10));
    await found(world, 'small', small);
    const large = await world.commit('large', putMany(1_280));
    expect(await fault(world.index.candidates(queryOf('large', large)))).toBe('too_large');
    await found(world, 'small', small);
    expect(world.source.loads).toBe(3);
    const removeFrom = (from: number, to: number): readonly IndexChange[] =>
      putMany(to - from, from).map((put) => ({
        kind: 'retain',
        group: put.kind === 'put' ? put.entry.group : '',
        ids: [],
      }));
    const little = await world.commit('large', removeFrom(1_250, 1_280));
    expect(await fault(world.index.candidates(queryOf('large', little)))).toBe('too_large');
    expect(world.source.loads).toBe(3);
    expect(world.index.loaded()).toEqual(['small']);
    const much = await world.commit('large', removeFrom(600, 1_250));
    expect((await found(world, 'large', much))[0]).toHaveLength(600);
  });

  test('a partition that was too large is read again after a time, because its texts may have become fewer', async () => {
    const textOf = (words: number): readonly IndexChange[] => [
      { kind: 'put', entry: entryOf('p', { terms: Array.from({ length: words }, (_, at) => `word${at}`) }) },
    ];
    const measured = openMemoryWorld();
    await found(measured, 'p', await measured.commit('p', textOf(1_000)));
    await using world = openMemoryWorld({ mostBytes: measured.index.bytes(), refusedMs: 0 });
    world.source.bytesOfEntry = 1;
    const long = await world.commit('p', textOf(4_000));
    for (const loads of [1, 2]) {
      expect(await fault(world.index.candidates(queryOf('p', long)))).toBe('too_large');
      expect(world.source.loads).toBe(loads);
    }
    const short = await world.commit('p', textOf(1_000));
    expect((await found(world, 'p', short))[1]).toHaveLength(1);
  });

  test('queries continue on the rows that they began with while their partition is dropped and another takes its memory', async () => {
    await using world = openMemoryWorld({ pageSize: 1_000 });
    const many = await world.commit('p', putMany(6_000));
    const other = await world.commit('q', [
      { kind: 'put', entry: entryOf('other', { vector: unit(-1, 0, 0, 0) }) },
      ...putMany(6_000),
    ]);
    await found(world, 'p', many);
    const running = [1, 2, 3].map(() => world.index.candidates(queryOf('p', many)));
    await world.index.drop('p');
    await found(world, 'q', other);
    for (const [, near] of await Promise.all(running)) expect(near?.every(({ score }) => score === 1)).toBe(true);
  });

  test('a query with another number of dimensions is a programming error and changes no later answer', async () => {
    await using world = openMemoryWorld();
    const reflects = await world.commit('p', putMany(2));
    const wrong: CandidateQuery = { ...queryOf('p', reflects), legs: [{ kind: 'vector', vector: unit(1, 0) }] };
    await expect(world.index.candidates(wrong)).rejects.toThrow('a query has 2 dimensions, not 4');
    expect((await found(world, 'p', reflects))[1]).toHaveLength(2);
  });
});
