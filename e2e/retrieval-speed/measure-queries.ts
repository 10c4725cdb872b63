import { analyse } from '#search/analysis/analyse';
import type { SpeedCase, SpeedReport } from './case.ts';
import { type Corpus, groups, randomOf, randomVector } from './chunks.ts';
import { fastestRound, timeCalls, timingsOf } from './timings.ts';

export type HybridQuery = {
  readonly terms: readonly string[];
  readonly vector: Float32Array;
  /** The only group whose chunks are searched; every group if undefined. */
  readonly group: number | undefined;
};

/** Best candidates of each leg. */
export const queryWindow = 50;
const warmUp = 20;

/** Hybrid queries from the questions of a corpus and random vectors, without a filter. */
export function makeQueries({ queries, dimensions }: SpeedCase, { questions }: Corpus): readonly HybridQuery[] {
  const random = randomOf(7);
  return Array.from({ length: queries }, (_, no) => ({
    terms: analyse(questions[no % questions.length] ?? ''),
    vector: randomVector(random, dimensions),
    group: undefined,
  }));
}

/**
 * Times queries one after another: with a group that selects 5 % of the chunks, and without a group. The result is the
 * round, out of six, with the smallest p95, because other load can only increase a time.
 */
export async function measureQueries(
  queries: readonly HybridQuery[],
  search: (query: HybridQuery) => Promise<unknown>,
): Promise<Pick<SpeedReport, 'filtered' | 'unfiltered'>> {
  const filtered = queries.map((query, no) => ({ ...query, group: no % groups }));
  await timeCalls(filtered.slice(0, warmUp), search);
  await timeCalls(queries.slice(0, warmUp), search);
  return {
    filtered: await fastestRound(async () => timingsOf(await timeCalls(filtered, search))),
    unfiltered: await fastestRound(async () => timingsOf(await timeCalls(queries, search))),
  };
}
