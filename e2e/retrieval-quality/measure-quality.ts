import type { JudgedSet } from './judged-set.ts';

/** Results of one query that count. */
export const depth = 10;

export type SearchQuality = {
  /** Mean of the discounted gain of the first ten results, 1 if every relevant document comes first. */
  readonly ndcg: number;
  /** Mean share of the relevant documents among the first ten results. */
  readonly recall: number;
};

/** Asks every query of a judged set; `search` returns ids of documents, best first. */
export async function measureQuality(
  { queries }: JudgedSet,
  search: (text: string) => Promise<readonly string[]>,
): Promise<SearchQuality> {
  let ndcg = 0;
  let recall = 0;
  for (const { text, relevant } of queries) {
    const found = (await search(text)).slice(0, depth);
    ndcg += discountedGain(found.map((id) => relevant.includes(id))) / bestGain(relevant.length);
    recall += found.filter((id) => relevant.includes(id)).length / relevant.length;
  }
  return { ndcg: ndcg / queries.length, recall: recall / queries.length };
}

function discountedGain(hits: readonly boolean[]): number {
  return hits.reduce((sum, isHit, at) => sum + (isHit ? 1 / Math.log2(at + 2) : 0), 0);
}

function bestGain(relevant: number): number {
  return discountedGain(new Array<boolean>(Math.min(relevant, depth)).fill(true));
}
