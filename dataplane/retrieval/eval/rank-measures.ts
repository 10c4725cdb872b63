/** Quality of one ranking, each from 0 to 1. */
export type RankMeasures = {
  /** Discounted gain of the first results divided by that of the best order (Järvelin and Kekäläinen 2002). */
  readonly ndcg: number;
  /** Share of the relevant documents among the first results. */
  readonly recall: number;
  /** 1 divided by the place of the first relevant document; 0 if the first results contain no relevant document. */
  readonly reciprocalRank: number;
};

/**
 * Measures the first `depth` documents of a ranking.
 * @param found ids of documents, best first, without duplicates
 * @param grades the grades of the relevant documents, at least one; a grade g has the gain 2^g - 1
 */
export function rankMeasures(
  found: readonly string[],
  grades: ReadonlyMap<string, number>,
  depth: number,
): RankMeasures {
  const gains = found.slice(0, depth).map((id) => gainOf(grades.get(id) ?? 0));
  const best = [...grades.values()].map(gainOf).toSorted((a, b) => b - a);
  const first = gains.findIndex((gain) => gain > 0);
  return {
    ndcg: discounted(gains) / discounted(best.slice(0, depth)),
    recall: gains.filter((gain) => gain > 0).length / grades.size,
    reciprocalRank: first < 0 ? 0 : 1 / (first + 1),
  };
}

/** The mean of each measure over at least one ranking. */
export function meanMeasures(all: readonly RankMeasures[]): RankMeasures {
  const mean = (read: (one: RankMeasures) => number): number =>
    all.reduce((sum, one) => sum + read(one), 0) / all.length;
  return {
    ndcg: mean(({ ndcg }) => ndcg),
    recall: mean(({ recall }) => recall),
    reciprocalRank: mean(({ reciprocalRank }) => reciprocalRank),
  };
}

/** The value such that a share of the values is less than or equal to it, by the nearest rank. */
export function quantileOf(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

function gainOf(grade: number): number {
  return 2 ** grade - 1;
}

function discounted(gains: readonly number[]): number {
  return gains.reduce((sum, gain, at) => sum + gain / Math.log2(at + 2), 0);
}
