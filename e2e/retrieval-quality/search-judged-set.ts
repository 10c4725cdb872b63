import { analyse } from '#search/analysis/analyse';
import type { IndexChange, SearchIndex } from '#search/ports';
import type { JudgedSet } from './judged-set.ts';
import { depth, measureQuality, type SearchQuality } from './measure-quality.ts';

/** The changes that index a judged set: each document is one entry. */
export function judgedEntries({ documents }: JudgedSet): readonly IndexChange[] {
  return documents.map(({ id, text }) => ({
    kind: 'put',
    entry: { id, group: id, labels: ['everyone'], attributes: {}, terms: analyse(text) },
  }));
}

/** The quality of BM25 over a partition that holds the entries of a judged set. */
export function measureTermQuality(
  set: JudgedSet,
  index: SearchIndex,
  { partition, reflects }: { readonly partition: string; readonly reflects: bigint },
): Promise<SearchQuality> {
  return measureQuality(set, async (text) => {
    const legs = [{ kind: 'bm25', terms: analyse(text) }] as const;
    const [ranking] = await index.candidates({ partition, reflects, labels: ['everyone'], legs, window: depth });
    return (ranking ?? []).map(({ id }) => id);
  });
}
