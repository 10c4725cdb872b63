import { openMemoryWorld } from '#search/testing/memory-world';
import { missingJudgedSet, readJudgedSet } from '../retrieval-quality/judged-set.ts';
import { judgedEntries, measureTermQuality } from '../retrieval-quality/search-judged-set.ts';
import type { Figure } from '../support/figure.ts';

const leastNdcg = 0.95;

export const figure: Figure = {
  name: 'retrieval-quality',
  title: 'BM25 over XQuAD-ru: nDCG@10 of at least .95, recall@10 beside it',
  coveredBy: 'e2e/retrieval-quality/quality.test.ts',
  run: async () => {
    if (missingJudgedSet !== undefined) return { skipped: missingJudgedSet };
    const set = readJudgedSet();
    await using world = openMemoryWorld({ pageSize: 1_000 });
    const reflects = await world.commit('xquad', judgedEntries(set));
    const { ndcg, recall } = await measureTermQuality(set, world.index, { partition: 'xquad', reflects });
    return {
      holds: ndcg >= leastNdcg,
      line:
        `${set.queries.length} queries over ${set.documents.length} documents, bm25, embedded: nDCG@10 ` +
        `${ndcg.toFixed(4)}, recall@10 ${recall.toFixed(4)}`,
    };
  },
};
