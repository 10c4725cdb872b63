import { expect, test } from 'vitest';
import { openMemoryWorld } from '#search/testing/memory-world';
import { missingJudgedSet, readJudgedSet } from './judged-set.ts';
import { measureQuality } from './measure-quality.ts';
import { judgedEntries, measureTermQuality } from './search-judged-set.ts';

const set = {
  name: 'two',
  documents: [
    { id: 'a', text: 'книги' },
    { id: 'b', text: 'дороги' },
  ],
  queries: [{ id: 'q', text: 'книга', relevant: ['a', 'b'] }],
};

test.each([
  ['both in front', ['a', 'b'], 1, 1],
  ['one in the second place', ['x', 'a'], 1 / Math.log2(3) / (1 + 1 / Math.log2(3)), 0.5],
  ['nothing', [], 0, 0],
  ['a document behind the tenth place', [...'0123456789', 'a'], 0, 0],
])('the nDCG and recall of a search that finds %s', async (_what, found, ndcg, recall) => {
  expect(await measureQuality(set, async () => found)).toEqual({ ndcg, recall });
});

test.skipIf(missingJudgedSet !== undefined)(
  `BM25 over XQuAD-ru has an nDCG@10 of at least .95 with the embedded index${missingJudgedSet ? ` (${missingJudgedSet})` : ''}`,
  async () => {
    const judged = readJudgedSet();
    await using world = openMemoryWorld({ pageSize: 1_000 });
    const reflects = await world.commit('xquad', judgedEntries(judged));
    const { ndcg, recall } = await measureTermQuality(judged, world.index, { partition: 'xquad', reflects });
    expect(ndcg).toBeGreaterThanOrEqual(0.95);
    expect(recall).toBeGreaterThanOrEqual(0.98);
  },
);
