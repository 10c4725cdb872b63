import { wait } from '#kit/time/wait';
import { openEmbeddedIndex } from '#search/adapters/embedded/embedded-index';
import { fuseRankings } from '#search/fuse-rankings';
import type { IndexEntry, PartitionSource } from '#search/ports';
import type { SpeedCase, SpeedReport } from './case.ts';
import { analysed, makeChunk, randomOf, randomVector, readCorpus } from './chunks.ts';
import { startOthers } from './measure-others.ts';
import { type HybridQuery, makeQueries, measureQueries, queryWindow } from './measure-queries.ts';
import { fastestRound, timeCalls } from './timings.ts';
import { untilLoaded } from './until-loaded.ts';

const pageSize = 500;
const idleMs = 500;

/**
 * Generates the chunks page by page as they are read, as a database would send them, and measures the generation time.
 */
function sourceOf({ chunks, dimensions }: SpeedCase, sentences: readonly (readonly string[])[]) {
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
  const source: PartitionSource = {
    load: async () => ({ upTo: 1n, entries: pages() }),
    changesAfter: async (_partition, after) => ({ kind: 'changes', changes: [], upTo: after, more: false }),
  };
  return { source, makingMs: () => makingMs };
}

export async function measureEmbedded(given: SpeedCase): Promise<SpeedReport> {
  const corpus = readCorpus();
  const sentences = analysed(corpus);
  const startMib = process.memoryUsage.rss() / 2 ** 20;
  const start = performance.now();
  const { source, makingMs } = sourceOf(given, sentences);
  await using index = openEmbeddedIndex({ source, mostBytes: 4 * 2 ** 30 });
  const search = async ({ terms, vector, group }: HybridQuery) => {
    const legs = [
      { kind: 'bm25', terms },
      { kind: 'vector', vector },
    ] as const;
    const labels = group === undefined ? 'every' : [`group:${group}`];
    const query = { partition: 'p', reflects: 1n, labels, legs, window: queryWindow } as const;
    const rankings = await index.candidates(query);
    return fuseRankings(rankings.map((candidates) => ({ candidates, weight: 1 })));
  };
  const anything = { terms: ['год'], vector: randomVector(randomOf(3), given.dimensions), group: undefined };
  await untilLoaded(() => search(anything));
  const readyMs = performance.now() - start - makingMs();
  const queries = makeQueries(given, corpus);
  const times = await measureQueries(queries, search);
  const others = await measureOthers((share) => timeCalls(queries.slice(0, queries.length / share), search));
  return { readyMs, ...times, residentMib: process.memoryUsage.rss() / 2 ** 20, startMib, others };
}

/** Times of small requests: alone, and while 1 and 16 callers search. */
async function measureOthers(search: (share: number) => Promise<unknown>): Promise<NonNullable<SpeedReport['others']>> {
  await using others = await startOthers();
  const rest = () => wait(idleMs, new AbortController().signal);
  await others.during(rest);
  const during = (run: () => Promise<unknown>) => fastestRound(() => others.during(run));
  const idle = await during(rest);
  const busy = await during(() => search(1));
  const crowded = await during(() => Promise.all(Array.from({ length: 16 }, () => search(16))));
  return { idle, busy, crowded };
}
