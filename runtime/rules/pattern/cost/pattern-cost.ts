import { maxStemmedWords } from '../../terms/stem-text.ts';
import type { PatternAnalysis } from './analyse-pattern.ts';
import { combine } from './combine.ts';
import type { Automaton } from './determinize.ts';
import {
  BUILD_NS,
  BUILD_RANGE_NS,
  BYTES_OF_STEMMED_WORD,
  CHECKSUM_NS,
  END_BYTE_NS,
  KEEP_BYTE_NS,
  PROBE_CALL_NS,
  SCAN_NS,
  SCAN_STEP_NS,
  SEARCH_CALL_NS,
  STEM_BYTE_NS,
  STEM_WORD_NS,
  stepNs,
  TERM_BYTE_NS,
} from './engine-figures.ts';
import type { ProbeFigures } from './pattern-figures.ts';
import { overlapWithRejected } from './probe-overlap.ts';

/**
 * The estimated worst case, in milliseconds, of finding out which of the patterns match somewhere in a text of at most
 * `maxBytes` bytes, if they are compiled as one group. The estimate depends on the patterns only, so that it is the
 * same on every machine. Real times can exceed it; therefore admission has a safety factor of 4. Infinity without an
 * estimate.
 */
export function firingCostMs(group: readonly PatternAnalysis[], maxBytes: number): number {
  const [only] = group;
  if (only === undefined) return 0;
  if (group.length > 1) {
    return setCostMs(setAutomaton(group)?.memoryBytes, maxBytes);
  }
  const figures = only.firing.figures();
  switch (figures.plan) {
    case 'set':
      return setCostMs(figures.memoryBytes, maxBytes);
    case 'probe':
      return probeCostMs(figures, maxBytes);
    case 'unbounded-set': {
      const perByte = BUILD_NS + BUILD_RANGE_NS * figures.ranges;
      return (SEARCH_CALL_NS + maxBytes * perByte) / 1e6;
    }
  }
}

/**
 * The automaton of a set of these patterns; undefined if a pattern has no automaton or the common automaton is too
 * large.
 */
export function setAutomaton(group: readonly PatternAnalysis[]): Automaton | undefined {
  let joint: Automaton | undefined;
  for (const [index, analysis] of group.entries()) {
    const own = analysis.firing.set();
    if (own === undefined) return undefined;
    joint = index === 0 || joint === undefined ? own : combine(joint, own);
    if (joint === undefined) return undefined;
  }
  return joint;
}

/**
 * The estimated worst case of one pass of a set whose automaton of this size was built in advance; Infinity without an
 * automaton.
 */
export function setCostMs(memoryBytes: number | undefined, maxBytes: number): number {
  if (memoryBytes === undefined) return Number.POSITIVE_INFINITY;
  return (SEARCH_CALL_NS + maxBytes * stepNs(memoryBytes)) / 1e6;
}

/**
 * The estimated worst case, in milliseconds, of listing at most `limit` matches of one pattern in a text of at most `maxBytes`
 * bytes.
 */
export function spansCostMs(analysis: PatternAnalysis, maxBytes: number, limit: number): number {
  const cost = listsByProbes(analysis) ? spanProbeCostMs : searchCostMs;
  return cost(analysis, maxBytes, limit);
}

/** The test of a match. `everyEnd`: every end at which the pattern can stop is tested, not only the end of the match. */
type MatchTest = { readonly everyEnd: boolean; readonly longestRejected: number };

/**
 * The estimated worst case, in milliseconds, of testing a match (checksum, allow-list) at every place at which the
 * pattern may begin; Infinity if there is no plan for probes.
 * @param longestRejected the maximum number of bytes of a match that is not accepted; places inside of such a match are
 * probed, too
 */
export function acceptedCostMs(
  analysis: PatternAnalysis,
  maxBytes: number,
  { everyEnd, longestRejected }: MatchTest,
): number {
  const { probe } = analysis.listing.figures();
  if (probe === undefined) return Number.POSITIVE_INFINITY;
  const overlap = overlapWithRejected(probe, { longest: analysis.shape.maxBytes, longestRejected });
  const probed = { ...probe, overlap };
  const readAgain = everyEnd ? readByProbes(probed, maxBytes) : 0;
  const testNs = placesOf(probe, maxBytes) * CHECKSUM_NS + readAgain * END_BYTE_NS;
  return probeCostMs(probed, maxBytes) + testNs / 1e6;
}

/** Whether listing matches by probes is cheaper than by searching, for the largest text that the contract allows. */
export function listsByProbes(analysis: PatternAnalysis): boolean {
  const [bytes, limit] = [131_072, 1_024];
  return spanProbeCostMs(analysis, bytes, limit) < searchCostMs(analysis, bytes, limit);
}

/** The estimated worst case of a term list on a text of at most `maxBytes` bytes, in milliseconds. */
export function termListCostMs(maxBytes: number): number {
  return (maxBytes * TERM_BYTE_NS) / 1e6;
}

/** The estimated worst case of finding the characters at the ends of matches that are kept, in milliseconds. */
export function keepCostMs(maxBytes: number): number {
  return (maxBytes * KEEP_BYTE_NS) / 1e6;
}

/**
 * The estimated worst case of a list of terms whose stems are compared, in milliseconds: reading the text, and stemming
 * the maximum number of words of one text.
 */
export function stemTermsCostMs(maxBytes: number): number {
  const words = Math.min(maxStemmedWords, Math.floor(maxBytes / BYTES_OF_STEMMED_WORD));
  return (maxBytes * STEM_BYTE_NS + words * STEM_WORD_NS) / 1e6;
}

function probeCostMs(plan: ProbeFigures, maxBytes: number): number {
  const probes = placesOf(plan, maxBytes);
  const read = readByProbes(plan, maxBytes);
  const scanned = maxBytes * (SCAN_NS + plan.scanned * SCAN_STEP_NS);
  return (scanned + probes * PROBE_CALL_NS + read * stepNs(plan.memoryBytes)) / 1e6;
}

/** Maximum number of places at which a probe begins. */
function placesOf({ distance }: ProbeFigures, maxBytes: number): number {
  return Math.floor(maxBytes / distance) + 1;
}

/** Maximum number of bytes that all probes read together. */
function readByProbes(plan: ProbeFigures, maxBytes: number): number {
  return maxBytes * Math.min(placesOf(plan, maxBytes), plan.overlap);
}

function spanProbeCostMs(analysis: PatternAnalysis, maxBytes: number, limit: number): number {
  const { probe } = analysis.listing.figures();
  if (probe === undefined) return Number.POSITIVE_INFINITY;
  return probeCostMs(probe, maxBytes) + (limit * PROBE_CALL_NS) / 1e6;
}

function searchCostMs(analysis: PatternAnalysis, maxBytes: number, limit: number): number {
  const { search } = analysis.listing.figures();
  if (search === undefined) return Number.POSITIVE_INFINITY;
  const { minBytes, maxBytes: longest } = analysis.shape;
  const matches = Math.min(limit, Math.floor(maxBytes / Math.max(1, minBytes))) + 1;
  const again = matches * Math.min(maxBytes, longest + 1);
  const forward = search.readsTwiceAtMost ? Math.min(maxBytes, again) : again;
  const read = stepNs(search.memoryBytes) * (2 * maxBytes + forward);
  // The part of an automaton that one text can need: all transitions, or at most one transition for each byte of the
  // text.
  const built = Math.min(search.buildAllNs, maxBytes * search.buildMostNs);
  return (read + built + matches * SEARCH_CALL_NS) / 1e6;
}
