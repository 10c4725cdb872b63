import type { Candidate } from './ports.ts';

/** The constant of reciprocal rank fusion: the larger it is, the smaller is the difference between the first ranks. */
const rankConstant = 60;
/** The score of an id that is first in one ranking of weight 1. */
export const bestRank = 1 / (rankConstant + 1);

type WeightedRanking = {
  /** Candidates, best first, each id once. */
  readonly candidates: readonly Candidate[];
  /** The weight of a ranking, not negative; a ranking of weight 0 adds no candidate. */
  readonly weight: number;
};

/**
 * Merges rankings by reciprocal rank fusion (obligation retrieval:query:rank-fusion): the score of an id is the sum of
 * weight / (60 + rank) over the rankings that hold it, ranks from 1. Equal scores are ordered by id, in code units.
 */
export function fuseRankings(rankings: readonly WeightedRanking[]): readonly Candidate[] {
  const scores = new Map<string, number>();
  for (const { candidates, weight } of rankings) {
    if (weight === 0) continue;
    for (const [at, { id }] of candidates.entries()) {
      scores.set(id, (scores.get(id) ?? 0) + weight / (rankConstant + at + 1));
    }
  }
  return Array.from(scores, ([id, score]) => ({ id, score })).sort(compareCandidates);
}

/** Best first; equal scores by id, so that the order does not depend on the order of the rankings. */
export function compareCandidates(one: Candidate, other: Candidate): number {
  if (one.score !== other.score) return other.score - one.score;
  if (one.id === other.id) return 0;
  return one.id < other.id ? -1 : 1;
}
