import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Turns } from '#kit/concurrency/turns';
import { openEmbeddedIndex } from '../../adapters/embedded/embedded-index.ts';
import type { IndexEntry } from '../../ports.ts';
import { entryOf, replaceGroup, unit } from '../../testing/generated-entries.ts';
import { MemorySource } from '../../testing/memory-source.ts';
import { openPackedWorld } from '../../testing/packed-world.ts';
import { searchIndexSuite } from '../../testing/search-index-suite.ts';
import { packSegment, packSegmentInTurns } from './pack-segment.ts';
import { partitionBytes } from './packed-partitions.ts';
import { PackedSegment } from './packed-segment.ts';
import { rowsOfSegment } from './segment-layout.ts';

describe('the packed index that follows its source', () => {
  searchIndexSuite(async () => openPackedWorld(), { runs: 60 });
});
describe('the packed index that is loaded for each query, packed after every second commit', () => {
  searchIndexSuite(async () => openPackedWorld({ packEvery: 2 }), { runs: 60 });
});
describe('the packed index that is loaded from segments only', () => {
  searchIndexSuite(async () => openPackedWorld({ packEvery: 1 }), { runs: 60 });
});

const everything = { labels: 'every', window: 10_000 } as const;
const many = (count: number, dimensions: number): readonly IndexEntry[] =>
  Array.from({ length: count }, (_, at) => {
    const random = (no: number): number => Math.sin(at * 12.9898 + no * 78.233) * 43_758.5453;
    const numbers = Array.from({ length: dimensions }, (_unused, no) => random(no) - Math.floor(random(no)) - 0.5);
    return entryOf(`e${at}`, {
      vector: unit(...numbers),
      terms: ['книг', `word${at % 7}`, `word${at % 11}`, ...(at % 3 === 0 ? ['book', 'book'] : [])],
    });
  });

describe('rankings of the packed index', () => {
  test('words have the same scores as in the index that stores complete vectors, and vectors nearly the same', async () => {
    const entries = many(3_000, 48);
    const puts = entries.map((entry) => ({ kind: 'put', entry }) as const);
    const source = new MemorySource({ pageSize: 1_000, groupsAtOnce: 1_000 });
    await using whole = openEmbeddedIndex({ source, mostBytes: 2 ** 30 });
    await using world = openPackedWorld();
    source.commit('p', puts);
    const reflects = await world.commit('p', puts);
    for (let no = 0; no < 20; no += 1) {
      const vector = entries[no * 97]?.vector as Float32Array;
      const legs = [
        { kind: 'bm25', terms: ['book', `word${no % 7}`, 'absent', 'book'] },
        { kind: 'vector', vector },
      ] as const;
      const query = { partition: 'p', reflects, legs, ...everything, window: 50 };
      const [words, near] = await world.index.candidates(query);
      const [expectedWords, expectedNear] = await whole.candidates({ ...query, reflects: 1n });
      expect(words).toEqual(expectedWords);
      const scores = new Map(expectedNear?.map(({ id, score }) => [id, score]));
      const first = near?.slice(0, 10) ?? [];
      expect(first.filter(({ id }) => scores.has(id))).toHaveLength(10);
      for (const { id, score } of first) expect(Math.abs(score - (scores.get(id) ?? 0))).toBeLessThan(0.005);
      expect(first[0]?.id).toBe(`e${no * 97}`);
    }
  });

  test('sums of flat vectors of many dimensions do not overflow', async () => {
    await using world = openPackedWorld();
    const flat = unit(...new Array<number>(4_096).fill(1));
    const reflects = await world.commit('p', [{ kind: 'put', entry: entryOf('flat', { vector: flat }) }]);
    const [found] = await world.index.candidates({
      ...{ partition: 'p', reflects, ...everything, legs: [{ kind: 'vector', vector: flat }] },
    });
    expect(found?.[0]?.score).toBeCloseTo(1, 2);
  });
});

describe('memory of the packed index', () => {
  const search = async (world: ReturnType<typeof openPackedWorld>, partition: string, reflects: bigint) =>
    world.index.candidates({ partition, reflects, ...everything, legs: [{ kind: 'bm25', terms: ['книг'] }] });

  test('the least recently queried partition is evicted, and loaded again by its next query', async () => {
    await using world = openPackedWorld({ mostBytes: 300_000 });
    const entries = many(1_000, 48).map((entry) => ({ kind: 'put', entry }) as const);
    const reflects = await world.commit('a', entries);
    for (const partition of ['b', 'c']) await world.commit(partition, entries);
    for (const partition of ['a', 'b', 'a', 'c'])
      expect((await search(world, partition, reflects))[0]).toHaveLength(1_000);
    expect(world.index.loaded()).toEqual(['a', 'c']);
    expect(world.index.bytes()).toBeLessThanOrEqual(300_000);
    expect((await search(world, 'b', reflects))[0]).toHaveLength(1_000);
  });

  test.each([
    ['no entry', []],
    ['one entry', [{ kind: 'put', entry: entryOf('one') }]],
  ] as const)('partitions with %s count as much as their objects need, and are evicted', async (_, changes) => {
    const kept = 50;
    await using world = openPackedWorld({ mostBytes: kept * partitionBytes });
    for (let at = 0; at < 4 * kept; at += 1) {
      const reflects = await world.commit(`p${at}`, changes.length === 0 ? replaceGroup('one', []) : changes);
      await search(world, `p${at}`, reflects);
    }
    const loaded = world.index.loaded();
    expect(loaded.at(-1)).toBe(`p${4 * kept - 1}`);
    expect(loaded.length).toBeLessThanOrEqual(kept);
    expect(loaded.length).toBeGreaterThan(kept / 2);
    expect(world.index.bytes()).toBeLessThanOrEqual(kept * partitionBytes);
    for (const name of loaded) await world.index.drop(name);
    expect(world.index.bytes()).toBe(0);
  });

  test('later changes of a partition count while they are kept unpacked', async () => {
    await using world = openPackedWorld();
    const put = (id: string) =>
      ({ kind: 'put', entry: entryOf(id, { vector: unit(...new Array<number>(48).fill(1)) }) }) as const;
    await search(world, 'p', await world.commit('p', [put('one')]));
    const before = world.index.bytes();
    await search(world, 'p', await world.commit('p', [put('two')]));
    expect(world.index.bytes() - before).toBeGreaterThan(600 + 4 * 48);
  });

  test('a partition larger than the bound is refused, and one within it is answered', async () => {
    await using world = openPackedWorld({ mostBytes: 100_000 });
    const reflects = await world.commit(
      'large',
      many(1_000, 48).map((entry) => ({ kind: 'put', entry })),
    );
    await expect(search(world, 'large', reflects)).rejects.toMatchObject({ fault: 'too_large' });
    const small = await world.commit('small', [{ kind: 'put', entry: entryOf('one') }]);
    expect((await search(world, 'small', small))[0]).toHaveLength(1);
  });

  const removed = (entries: readonly IndexEntry[]) => entries.flatMap(({ group }) => replaceGroup(group, []));

  test('a partition that was too large is read again only after it has become smaller', async () => {
    await using world = openPackedWorld({ mostBytes: 100_000 });
    const entries = many(1_000, 48);
    const small = await world.commit('small', [{ kind: 'put', entry: entryOf('one') }]);
    await search(world, 'small', small);
    const reflects = await world.commit(
      'large',
      entries.map((entry) => ({ kind: 'put', entry })),
    );
    for (const _ of [1, 2, 3])
      await expect(search(world, 'large', reflects)).rejects.toMatchObject({ fault: 'too_large' });
    expect(world.source.loads).toBe(2);
    const little = await world.commit('large', removed(entries.slice(980)));
    await expect(search(world, 'large', little)).rejects.toMatchObject({ fault: 'too_large' });
    expect(world.source.loads).toBe(2);
    expect(world.index.loaded()).toEqual(['small']);
    const much = await world.commit('large', removed(entries.slice(10, 980)));
    expect((await search(world, 'large', much))[0]).toHaveLength(10);
    expect(world.source.loads).toBe(3);
  });

  test('a partition that was too large is read again after a time, even if it is not smaller', async () => {
    await using world = openPackedWorld({ mostBytes: 100_000, refusedMs: 0 });
    const reflects = await world.commit(
      'large',
      many(1_000, 48).map((entry) => ({ kind: 'put', entry })),
    );
    for (const _ of [1, 2])
      await expect(search(world, 'large', reflects)).rejects.toMatchObject({ fault: 'too_large' });
    expect(world.source.loads).toBe(2);
  });

  test('after deletions that the source no longer has, the partition is loaded again', async () => {
    await using world = openPackedWorld();
    const first = await world.commit('p', [{ kind: 'put', entry: entryOf('one') }]);
    await search(world, 'p', first);
    const second = await world.commit('p', [...replaceGroup('one', []), { kind: 'put', entry: entryOf('two') }]);
    world.source.forgottenThrough = second;
    expect((await search(world, 'p', second))[0]).toMatchObject([{ id: 'two' }]);
    expect(world.source.loads).toBe(2);
  });

  test('a partition whose stored segment has another layout is read from its entries', async () => {
    await using world = openPackedWorld();
    const reflects = await world.commit('p', [{ kind: 'put', entry: entryOf('one') }]);
    world.source.segments = async () => ({ upTo: reflects, segments: [{ bytes: Buffer.alloc(200), ended: [] }] });
    expect((await search(world, 'p', reflects))[0]).toMatchObject([{ id: 'one' }]);
  });

  test('many later changes of a loaded partition are found without a new load', async () => {
    await using world = openPackedWorld();
    let reflects = await world.commit(
      'p',
      many(10, 4).map((entry) => ({ kind: 'put', entry })),
    );
    await search(world, 'p', reflects);
    for (let at = 0; at < 400; at += 1) {
      reflects = await world.commit(
        'p',
        replaceGroup(`e${at % 300}`, [entryOf(`e${at % 300}`, { id: `e${at % 300}/${at}` })]),
      );
    }
    const [found] = await search(world, 'p', reflects);
    const expected = Array.from({ length: 300 }, (_, at) => `e${at}/${at < 100 ? at + 300 : at}`);
    expect(found?.map(({ id }) => id).toSorted()).toEqual(expected.toSorted());
    expect(world.source.loads).toBe(1);
  });
});

describe('a segment', () => {
  test('a packed segment contains ids that do not begin with their group, and groups with a common prefix', () => {
    const entries = ['d', 'dd', 'd-', 'я', ''].flatMap((group, at) => [
      entryOf(`x${at}`, { group }),
      entryOf(`${group}y${at}`, { group }),
    ]);
    const segment = new PackedSegment(packSegment(entries));
    for (const { group } of entries) {
      const [from, to] = segment.rowsOfGroup(group);
      const ids = Array.from({ length: to - from }, (_, at) => segment.id(from + at));
      expect(ids.toSorted()).toEqual(
        entries
          .filter((one) => one.group === group)
          .map(({ id }) => id)
          .toSorted(),
      );
      expect(segment.group(from)).toBe(group);
    }
    expect(segment.rowsOfGroup('absent')).toEqual([expect.any(Number), expect.any(Number)]);
    const [from, to] = segment.rowsOfGroup('dx');
    expect(to - from).toBe(0);
  });

  test('a packed segment has at most 2048 rows', () => {
    expect(new PackedSegment(packSegment(many(rowsOfSegment, 2))).rows).toBe(2_048);
    expect(() => packSegment(many(rowsOfSegment + 1, 2))).toThrow('2048 rows');
  });

  test('a segment that is packed in slices is the same, and other work is done at least once in 32 rows of each part', async () => {
    const entries = many(rowsOfSegment, 8);
    let gaps = 0;
    class EveryTurn extends Turns {
      override isOver(): boolean {
        return true;
      }
      override next(): Promise<void> {
        gaps += 1;
        return super.next();
      }
    }
    const bytes = await packSegmentInTurns(entries, new EveryTurn());
    expect(bytes.equals(packSegment(entries))).toBe(true);
    expect(gaps).toBeGreaterThanOrEqual((3 * rowsOfSegment) / 32);
  });

  test('a small packed segment keeps no more memory than its bytes', () => {
    for (const count of [1, 5, 200]) {
      const { buffer, length } = packSegment(many(count, 8));
      expect(buffer.byteLength).toBe(length);
    }
  });

  test('a packed segment that is truncated or has another mark is refused, and one at another offset is read', () => {
    const bytes = packSegment(many(20, 8));
    fc.assert(
      fc.property(fc.integer({ min: 0, max: bytes.length - 1 }), (length) => {
        expect(() => new PackedSegment(bytes.subarray(0, length))).toThrow('segment');
      }),
    );
    expect(() => new PackedSegment(Buffer.concat([Buffer.from([0]), bytes.subarray(1)]))).toThrow('another layout');
    const moved = new PackedSegment(Buffer.concat([Buffer.from([0]), bytes]).subarray(1));
    expect(moved.id(3)).toBe(new PackedSegment(bytes).id(3));
  });
});
