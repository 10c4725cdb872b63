import { meanMeasures, type RankMeasures, rankMeasures } from '../../dataplane/retrieval/eval/rank-measures.ts';
import type { JudgedSet } from './judged-set.ts';

/** Number of results of one query that are evaluated. */
export const depth = 10;

export type SearchQuality = Pick<RankMeasures, 'ndcg' | 'recall'>;

/** Runs every query of a judged set; `search` returns document ids, best first. */
export async function measureQuality(
  { queries }: JudgedSet,
  search: (text: string) => Promise<readonly string[]>,
): Promise<SearchQuality> {
  const measures = [];
  for (const { text, relevant } of queries) {
    const grades = new Map(relevant.map((id) => [id, 1]));
    measures.push(rankMeasures(await search(text), grades, depth));
  }
  const { ndcg, recall } = meanMeasures(measures);
  return { ndcg, recall };
}
