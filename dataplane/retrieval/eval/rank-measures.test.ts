import { expect, test } from 'vitest';
import { meanMeasures, quantileOf, rankMeasures } from './rank-measures.ts';

const grades = new Map([
  ['a', 3],
  ['b', 1],
  ['c', 2],
]);

test('a ranking in the best order has the measures 1, and a ranking without a relevant document 0', () => {
  expect(rankMeasures(['a', 'c', 'b', 'x'], grades, 10)).toEqual({ ndcg: 1, recall: 1, reciprocalRank: 1 });
  expect(rankMeasures(['x', 'y'], grades, 10)).toEqual({ ndcg: 0, recall: 0, reciprocalRank: 0 });
  expect(rankMeasures([], grades, 10)).toEqual({ ndcg: 0, recall: 0, reciprocalRank: 0 });
});

test('gains are discounted by rank, as in a calculation by hand', () => {
  const { ndcg, recall, reciprocalRank } = rankMeasures(['x', 'c', 'a'], grades, 3);
  const best = 7 / Math.log2(2) + 3 / Math.log2(3) + 1 / Math.log2(4);
  expect(ndcg).toBeCloseTo((3 / Math.log2(3) + 7 / Math.log2(4)) / best, 12);
  expect([recall, reciprocalRank]).toEqual([2 / 3, 1 / 2]);
});

test('rank measures count only the first results, of the ranking and of the best order', () => {
  expect(rankMeasures(['a', 'c'], grades, 1)).toEqual({ ndcg: 1, recall: 1 / 3, reciprocalRank: 1 });
  expect(rankMeasures(['x', 'a'], grades, 1)).toEqual({ ndcg: 0, recall: 0, reciprocalRank: 0 });
});

test('a mean is computed for each measure, and a quantile is the value at the nearest rank', () => {
  const one = { ndcg: 1, recall: 0.5, reciprocalRank: 1 };
  const other = { ndcg: 0, recall: 0.25, reciprocalRank: 0.5 };
  expect(meanMeasures([one, other])).toEqual({ ndcg: 0.5, recall: 0.375, reciprocalRank: 0.75 });
  const values = [4, 1, 3, 2];
  expect([quantileOf(values, 0.5), quantileOf(values, 0.95), quantileOf([7], 0.5)]).toEqual([2, 4, 7]);
});
