import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { verifies } from '../../e2e/support/verifies.ts';
import { fuseRankings } from './fuse-rankings.ts';
import type { Candidate } from './ports.ts';

const ranked = (...ids: readonly string[]): readonly Candidate[] => ids.map((id, at) => ({ id, score: 100 - at }));
const ids = (candidates: readonly Candidate[]): readonly string[] => candidates.map(({ id }) => id);

describe('reciprocal rank fusion', () => {
  verifies(['retrieval:query:rank-fusion'], 'an id high in both rankings comes before one as high in only one', () => {
    const fused = fuseRankings([
      { candidates: ranked('both', 'left'), weight: 1 },
      { candidates: ranked('both', 'right'), weight: 1 },
    ]);
    expect(ids(fused)).toEqual(['both', 'left', 'right']);
    expect(fused.map(({ score }) => score)).toEqual([2 / 61, 1 / 62, 1 / 62]);
  });

  test('a heavier ranking decides between ids of the same rank', () => {
    const fuse = (left: number, right: number) =>
      ids(
        fuseRankings([
          { candidates: ranked('left'), weight: left },
          { candidates: ranked('right'), weight: right },
        ]),
      );
    expect(fuse(0.4, 0.6)).toEqual(['right', 'left']);
    expect(fuse(0.6, 0.4)).toEqual(['left', 'right']);
  });

  test('a ranking of weight 0 adds nothing, and without rankings the result is empty', () => {
    expect(fuseRankings([{ candidates: ranked('a'), weight: 0 }])).toEqual([]);
    expect(fuseRankings([])).toEqual([]);
  });

  test('the scores of the engines do not matter, and neither does the order of the rankings', () => {
    const ranking = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'B', 'я'));
    fc.assert(
      fc.property(ranking, ranking, fc.double({ min: 0.1, max: 1_000, noNaN: true }), (one, other, factor) => {
        const scaled = ranked(...one).map(({ id, score }) => ({ id, score: score * factor }));
        const fused = fuseRankings([
          { candidates: ranked(...one), weight: 1 },
          { candidates: ranked(...other), weight: 1 },
        ]);
        expect(
          fuseRankings([
            { candidates: ranked(...other), weight: 1 },
            { candidates: scaled, weight: 1 },
          ]),
        ).toEqual(fused);
        expect(ids(fused).toSorted()).toEqual([...new Set([...one, ...other])].sort());
      }),
    );
  });
});
