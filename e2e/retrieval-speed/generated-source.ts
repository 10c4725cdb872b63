import { fuseRankings } from '#search/fuse-rankings';
import type { IndexEntry, PartitionSource, SearchIndex } from '#search/ports';
import type { SpeedCase } from './case.ts';
import { makeChunk } from './chunks.ts';
import { type HybridQuery, queryWindow } from './measure-queries.ts';

const pageSize = 500;

/**
 * Generates the chunks page by page as they are read, as a database would send them, and measures the generation time.
 */
export function sourceOf({ chunks, dimensions }: SpeedCase, sentences: readonly (readonly string[])[]) {
  let makingMs = 0;
  async function* pages(): AsyncGenerator<readonly IndexEntry[]> {
    for (let no = 0; no < chunks; no += pageSize) {
      const start = performance.now();
      const size = Math.min(pageSize, chunks - no);
      const page = Array.from({ length: size }, (_, at) => makeChunk(no + at, dimensions, sentences).entry);
      makingMs += performance.now() - start;
      yield page;
    }
  }
  async function* none(): AsyncGenerator<never> {}
  const source: PartitionSource = {
    load: async () => ({ upTo: 1n, entries: pages() }),
    changesAfter: async (_partition, after) => ({ kind: 'changes', changes: none(), upTo: after, more: false }),
  };
  return { source, makingMs: () => makingMs };
}

/** Hybrid queries through the port of the index, as the retrieval service sends them. */
export function hybridSearch(index: Pick<SearchIndex, 'candidates'>) {
  return async ({ terms, vector, group }: HybridQuery) => {
    const legs = [
      { kind: 'bm25', terms },
      { kind: 'vector', vector },
    ] as const;
    const labels = group === undefined ? 'every' : [`group:${group}`];
    const query = { partition: 'p', reflects: 1n, labels, legs, window: queryWindow } as const;
    const rankings = await index.candidates(query);
    return fuseRankings(rankings.map((candidates) => ({ candidates, weight: 1 })));
  };
}
