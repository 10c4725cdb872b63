import { openMemoryWorld } from '#search/testing/memory-world';
import { missingOpenSearch, startOpenSearch } from '../retrieval/opensearch-server.ts';
import { openOpenSearchWorld } from '../retrieval/opensearch-world.ts';
import { comparedDimensions, compareIndexes, groupedEntries } from '../retrieval-quality/compare-indexes.ts';
import { missingJudgedSet, readJudgedSet } from '../retrieval-quality/judged-set.ts';
import type { Figure } from '../support/figure.ts';

const leastNdcg = 0.95;
const leastOverlap = 0.9;
const mostNdcgDifference = 0.01;
const queries = { small: 100, full: Number.POSITIVE_INFINITY } as const;

export const figure: Figure = {
  name: 'retrieval-quality',
  title:
    'XQuAD-ru in the embedded index and in OpenSearch: nDCG@10 of BM25 of at least .95 and within .01, overlap@10 of ' +
    'at least .9, the same rights',
  run: async (size) => {
    const missing = missingJudgedSet ?? missingOpenSearch;
    if (missing !== undefined) return { skipped: missing };
    const whole = readJudgedSet();
    const set = { ...whole, queries: whole.queries.slice(0, queries[size]) };
    await using embedded = openMemoryWorld({ pageSize: 1_000 });
    await using server = await startOpenSearch();
    await using opensearch = await openOpenSearchWorld({
      url: server.url,
      dimensions: comparedDimensions,
      source: embedded.source,
    });
    const reflects = await embedded.commit('compared', groupedEntries(set));
    const found = await compareIndexes(set, [
      { index: embedded.index, reflects },
      { index: opensearch.index, reflects },
    ]);
    const [one, other] = found.qualities.map(({ bm25, hybrid }) => ({ ndcg: [bm25.ndcg, hybrid.ndcg], bm25, hybrid }));
    if (one === undefined || other === undefined) throw new Error('two indexes have two qualities');
    const differences = one.ndcg.map((ndcg, at) => Math.abs(ndcg - (other.ndcg[at] ?? 0)));
    const { bm25, vector } = found.overlaps;
    const isGood = one.bm25.ndcg >= leastNdcg && Math.max(...differences) <= mostNdcgDifference;
    const shown = ({ ndcg, recall }: { readonly ndcg: number; readonly recall: number }) =>
      `nDCG@10 ${ndcg.toFixed(4)} recall@10 ${recall.toFixed(4)}`;
    return {
      holds: isGood && Math.min(bm25, vector) >= leastOverlap && found.rightsDifferences === 0,
      line:
        `${set.queries.length} queries over ${set.documents.length} documents; embedded bm25 ${shown(one.bm25)}, hybrid ` +
        `with the offline embedder ${shown(one.hybrid)}; OpenSearch bm25 ${shown(other.bm25)}, hybrid ${shown(other.hybrid)}; ` +
        `overlap@10 bm25 ${bm25.toFixed(3)} vector ${vector.toFixed(3)}; ${found.rightsDifferences} differences of rights`,
    };
  },
};
