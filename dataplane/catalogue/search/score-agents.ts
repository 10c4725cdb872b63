import { bestRank, fuseRankings } from '#search/fuse-rankings';
import type { Candidate } from '#search/ports';
import { agentOfEntry } from './agent-source.ts';

export type ScoredAgent = { readonly agentId: string; readonly score: number };

/**
 * The agents of the merged rankings with scores above 0, at most 1. Agents whose vector is not nearer than the floor
 * count as if the ranking of vectors did not have them. While a change of an agent is applied to the index, it has two
 * entries, of which the entry with the higher score counts.
 */
export function scoreAgents(
  [byTerms = [], byVectors]: readonly (readonly Candidate[])[],
  floor: number,
): readonly ScoredAgent[] {
  const near = byVectors?.filter(({ score }) => score > floor);
  const rankings = (near === undefined ? [byTerms] : [byTerms, near]).map(ofAgents);
  return fuseRankings(rankings.map((candidates) => ({ candidates, weight: 1 }))).map(({ id, score }) => ({
    agentId: id,
    score: score / (bestRank * rankings.length),
  }));
}

/** The ranking of agents that follows from a ranking of entries. */
function ofAgents(entries: readonly Candidate[]): readonly Candidate[] {
  const best = new Map<string, Candidate>();
  for (const { id, score } of entries) {
    const agentId = agentOfEntry(id);
    if (!best.has(agentId)) best.set(agentId, { id: agentId, score });
  }
  return [...best.values()];
}
