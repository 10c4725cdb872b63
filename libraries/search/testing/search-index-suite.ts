import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Candidate, CandidateQuery, IndexChange, SearchIndex } from '../ports.ts';
import { SearchUnavailableError } from '../search-error.ts';
import { ExpectedSearch } from './expected-search.ts';
import { bothLegs, callerLabels, condition, entryOf, replaceGroup, unit, writes } from './generated-entries.ts';

/** An empty index for one test, with a source that replaces its database. */
export type SearchWorld = AsyncDisposable & {
  readonly index: SearchIndex;
  /** Writes and commits changes as a service does; the number of the commit. */
  commit(partition: string, changes: readonly IndexChange[]): Promise<bigint>;
  /** Makes the engine, or its source, unavailable. */
  interrupt(): Promise<void>;
};

type SuiteOptions = {
  /** Random histories of each property. */
  readonly runs: number;
};

const all = 1_000;
const legs = [
  { kind: 'bm25', terms: ['книг'] },
  { kind: 'vector', vector: unit(1, 0, 0, 0) },
] as const;
const ids = (ranking: readonly Candidate[] | undefined): readonly string[] => (ranking ?? []).map(({ id }) => id);

/** The obligations of every adapter of the port SearchIndex. */
export function searchIndexSuite(open: () => Promise<SearchWorld>, { runs }: SuiteOptions): void {
  const search = async (world: SearchWorld, reflects: bigint, changed: Partial<CandidateQuery> = {}) =>
    world.index.candidates({ partition: 'p', reflects, labels: ['public'], legs, window: all, ...changed });
  let partitions = 0;

  describe('candidates of a search index', () => {
    test('random writes, rights and conditions: each leg finds exactly the entries that the caller may find', async () => {
      await using world = await open();
      const property = fc.asyncProperty(
        writes,
        fc.array(
          fc.record({ labels: callerLabels, condition: fc.option(condition, { nil: undefined }), legs: bothLegs }),
          { minLength: 1, maxLength: 4 },
        ),
        async (history, queries) => {
          partitions += 1;
          const partition = `random-${partitions}`;
          const expected = new ExpectedSearch();
          for (const changes of history) {
            expected.apply(partition, changes);
            const reflects = await world.commit(partition, changes);
            for (const { condition: asked, ...rest } of queries) {
              const query = { partition, window: all, ...rest, ...(asked === undefined ? {} : { condition: asked }) };
              const found = await world.index.candidates({ ...query, reflects });
              expect(found.map((ranking) => ids(ranking).toSorted())).toEqual(
                query.legs.map((leg) => expected.found(query, leg)),
              );
              for (const ranking of found) expectOrdered(ranking);
            }
          }
        },
      );
      await fc.assert(property, { numRuns: runs });
    });

    test('entries of equal scores are ordered by id, whatever the order of their writes', async () => {
      await using world = await open();
      const names = ['b', 'a', 'c', '10', '9', 'B', 'я'];
      const reflects = await world.commit(
        'p',
        names.map((id) => ({ kind: 'put', entry: entryOf(id) })),
      );
      const sorted = names.toSorted();
      expect((await search(world, reflects)).map(ids)).toEqual([sorted, sorted]);
      expect((await search(world, reflects, { window: 3 })).map(ids)).toEqual([sorted.slice(0, 3), sorted.slice(0, 3)]);
    });

    test('a window of one yields the best candidate of each leg', async () => {
      await using world = await open();
      const reflects = await world.commit('p', [
        { kind: 'put', entry: entryOf('near', { terms: ['книг', 'book', 'book', 'book'] }) },
        { kind: 'put', entry: entryOf('often', { terms: ['книг', 'книг'], vector: unit(1, 1, 0, 0) }) },
      ]);
      expect((await search(world, reflects, { window: 1 })).map(ids)).toEqual([['often'], ['near']]);
    });

    test('a term that is asked twice counts twice', async () => {
      await using world = await open();
      const reflects = await world.commit('p', [
        { kind: 'put', entry: entryOf('a', { terms: ['once'] }) },
        { kind: 'put', entry: entryOf('b', { terms: ['twice'] }) },
      ]);
      const found = async (...terms: readonly string[]) =>
        (await search(world, reflects, { legs: [{ kind: 'bm25', terms }] })).map(ids);
      expect(await found('once', 'twice')).toEqual([['a', 'b']]);
      expect(await found('once', 'twice', 'twice')).toEqual([['b', 'a']]);
    });

    test('a query of 1,400 terms, all different or few of them repeated, is answered with the largest condition, too', async () => {
      await using world = await open();
      const reflects = await world.commit('p', [{ kind: 'put', entry: entryOf('one') }]);
      const repeated = Array.from({ length: 1_400 }, (_, at) => (at === 0 ? 'книг' : `term${at % 10}`));
      const different = Array.from({ length: 1_400 }, (_, at) => (at === 0 ? 'книг' : `term${at}`));
      const other = { path: 'metadata.size', op: 'ne', value: 1 } as const;
      const largest = { and: Array.from({ length: 127 }, (_, at) => ({ ...other, value: at })) };
      for (const terms of [repeated, different]) {
        const words = [{ kind: 'bm25', terms }] as const;
        expect((await search(world, reflects, { legs: words })).map(ids)).toEqual([['one']]);
        expect((await search(world, reflects, { legs: words, condition: largest })).map(ids)).toEqual([['one']]);
      }
    });

    test('of 4,300 entries with one vector those that come first by id are found', async () => {
      await using world = await open();
      const names = Array.from({ length: 4_300 }, (_, at) => `e${String(at).padStart(4, '0')}`);
      let reflects = 0n;
      // A segment has room for 2,048 rows, and all rows of a group are in one.
      for (let at = 4; at >= 0; at -= 1) {
        const some = names.slice(at * 1_000, (at + 1) * 1_000).toReversed();
        const changes = some.map((id) => ({ kind: 'put', entry: entryOf(id, { group: `group${at}` }) }) as const);
        reflects = await world.commit('p', changes);
      }
      const first = names.slice(0, 50);
      expect((await search(world, reflects, { window: 50 })).map(ids)).toEqual([first, first]);
    });

    test('an entry without a vector is found by its terms, and one without terms by its vector', async () => {
      await using world = await open();
      const { vector: _absent, ...text } = entryOf('text');
      const reflects = await world.commit('p', [
        { kind: 'put', entry: text },
        { kind: 'put', entry: entryOf('image', { terms: [] }) },
      ]);
      expect((await search(world, reflects)).map(ids)).toEqual([['text'], ['image']]);
    });

    test('an entry of another partition is never found, even with the same id, labels and terms', async () => {
      await using world = await open();
      const mine = await world.commit('p', [{ kind: 'put', entry: entryOf('one') }]);
      const other = await world.commit('q', [
        { kind: 'put', entry: entryOf('one') },
        { kind: 'put', entry: entryOf('two') },
      ]);
      await world.commit('p', replaceGroup('one', []));
      expect((await search(world, mine + 1n)).map(ids)).toEqual([[], []]);
      expect((await search(world, other, { partition: 'q' })).map(ids)).toEqual([
        ['one', 'two'],
        ['one', 'two'],
      ]);
    });

    test('a caller without labels finds nothing, and an entry without labels is found only by callers who see every entry', async () => {
      await using world = await open();
      const reflects = await world.commit('p', [
        { kind: 'put', entry: entryOf('hidden', { labels: [] }) },
        { kind: 'put', entry: entryOf('open') },
      ]);
      expect((await search(world, reflects, { labels: [] })).map(ids)).toEqual([[], []]);
      expect((await search(world, reflects)).map(ids)).toEqual([['open'], ['open']]);
      expect((await search(world, reflects, { labels: 'every' })).map(ids)).toEqual([
        ['hidden', 'open'],
        ['hidden', 'open'],
      ]);
    });
  });

  describe('changes of a search index', () => {
    test('changed labels of an entry apply at the next query', async () => {
      await using world = await open();
      const before = await world.commit('p', [{ kind: 'put', entry: entryOf('one') }]);
      expect((await search(world, before)).map(ids)).toEqual([['one'], ['one']]);
      const closed = await world.commit('p', [{ kind: 'put', entry: entryOf('one', { labels: ['group:a'] }) }]);
      expect((await search(world, closed)).map(ids)).toEqual([[], []]);
      expect((await search(world, closed, { labels: ['group:a'] })).map(ids)).toEqual([['one'], ['one']]);
    });

    test('a repeated write changes nothing', async () => {
      await using world = await open();
      const changes = replaceGroup('d', [entryOf('d-1', { group: 'd' }), entryOf('d-2', { group: 'd' })]);
      await world.commit('p', changes);
      const reflects = await world.commit('p', changes);
      expect((await search(world, reflects)).map(ids)).toEqual([
        ['d-1', 'd-2'],
        ['d-1', 'd-2'],
      ]);
    });

    test('a removed group is not found, and its neighbours are', async () => {
      await using world = await open();
      const group = (name: string) =>
        replaceGroup(name, [entryOf(`${name}-1`, { group: name }), entryOf(`${name}-2`, { group: name })]);
      await world.commit('p', [...group('d'), ...group('dd')]);
      const reflects = await world.commit('p', replaceGroup('d', []));
      expect((await search(world, reflects)).map(ids)).toEqual([
        ['dd-1', 'dd-2'],
        ['dd-1', 'dd-2'],
      ]);
    });

    test('queries that run while changes arrive never miss an entry that was committed before them', async () => {
      await using world = await open();
      let reflects = 0n;
      const committed: string[] = [];
      const write = async () => {
        for (let at = 0; at < 12; at += 1) {
          const id = `e${String(at).padStart(2, '0')}`;
          reflects = await world.commit('p', [{ kind: 'put', entry: entryOf(id) }]);
          committed.push(id);
        }
      };
      const read = async () => {
        while (committed.length < 12) {
          if (committed.length === 0) await new Promise((resolve) => setImmediate(resolve));
          else {
            const before = [...committed];
            const found = await search(world, reflects);
            for (const ranking of found) expect(ids(ranking)).toEqual(expect.arrayContaining(before));
          }
        }
      };
      await Promise.all([write(), read(), read()]);
      expect((await search(world, reflects)).map(ids)).toEqual([committed, committed]);
    });

    test('entries of a dropped partition are not found, and other partitions remain', async () => {
      await using world = await open();
      const reflects = await world.commit('p', [{ kind: 'put', entry: entryOf('one') }]);
      const other = await world.commit('q', [{ kind: 'put', entry: entryOf('one') }]);
      await search(world, reflects);
      await world.index.drop('p');
      await world.index.drop('p');
      expect((await search(world, other, { partition: 'q' })).map(ids)).toEqual([['one'], ['one']]);
    });
  });

  describe('a search index without an answer', () => {
    test('a query of an engine that does not answer is refused, never answered as empty', async () => {
      await using world = await open();
      const reflects = await world.commit('p', [{ kind: 'put', entry: entryOf('one') }]);
      await world.interrupt();
      await expect(search(world, reflects)).rejects.toBeInstanceOf(SearchUnavailableError);
    });

    test('an aborted query rejects with the reason of its signal', async () => {
      await using world = await open();
      const reflects = await world.commit('p', [{ kind: 'put', entry: entryOf('one') }]);
      const reason = new Error('the client has gone');
      const query = { partition: 'p', reflects, labels: ['public'], legs, window: 1 };
      await expect(world.index.candidates(query, AbortSignal.abort(reason))).rejects.toBe(reason);
    });
  });
}

function expectOrdered(ranking: readonly Candidate[]): void {
  for (const [at, { id, score }] of ranking.entries()) {
    const next = ranking[at + 1];
    if (next !== undefined) expect(score > next.score || (score === next.score && id < next.id)).toBe(true);
  }
}
