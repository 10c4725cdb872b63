import type { ByteRange } from '../../checked-text.ts';
import type { PatternShape } from '../syntax/pattern-shape.ts';
import type { Automaton } from './determinize.ts';
import { overlapOf } from './probe-overlap.ts';
import { agreeing, CONTEXT_AFTER, type ProbeState, startStates } from './probe-places.ts';

/** The number of bytes after the start of a match that the plan examines before the engine is called. */
const MAX_DEPTH = 24;
/**
 * Two places that agree in this number of bytes count as overlapping: their distance limits the number of examined
 * bytes.
 */
const BEGUN = 3;

/**
 * How the matches of a pattern are found without a search of the engine. The plan examines the first `depth` bytes at
 * each place of a text; if a match can begin with these bytes, the engine is run from that place; this run is called a
 * probe. A search of a bounded gap such as `.{0,60}` needs one state for each set of open gaps, a probe only one state
 * for each position in the gap.
 */
export type ProbePlan = {
  /** The leftmost-first automaton of the pattern without a search, from every start context. */
  readonly automaton: Automaton;
  /**
   * Start states of the automaton by context number; -1 if every byte leads to a state without a match. Computed once,
   * not at each place.
   */
  readonly starts: readonly number[];
  /** The number of bytes that the plan examines at each place. */
  readonly depth: number;
  /**
   * Smallest distance in bytes of two places to probe, in any text; Infinity when only the start of the text is such a
   * place.
   */
  readonly distance: number;
  /** Maximum number of bytes examined per byte of any text to find places to probe. */
  readonly scanned: number;
  /**
   * Maximum number of probes that can read one byte of any text; Infinity if a text can make any number of probes read
   * it.
   */
  readonly overlap: number;
};

/** The probe plan of a pattern; undefined when it can match empty: then every place would have to be probed. */
export function probePlan(automaton: Automaton, shape: PatternShape): ProbePlan | undefined {
  if (shape.canMatchEmpty) return undefined;
  const depth = Math.max(1, Math.min(MAX_DEPTH, shape.minBytes));
  const begun = distanceOf(automaton, Math.min(depth, BEGUN));
  const distance = distanceOf(automaton, depth);
  const overlap = overlapOf(automaton, depth, distance);
  return {
    automaton,
    starts: startStates(automaton),
    depth,
    distance,
    scanned: BEGUN + Math.ceil(depth / begun),
    overlap,
  };
}

/** The first position at or after `from` at which a match may begin, or -1. */
export function nextPlace({ automaton, starts, depth }: ProbePlan, bytes: Uint8Array, from: number): number {
  const { next, classOf, classCount } = automaton;
  let start = from > 0 ? (starts[CONTEXT_AFTER[bytes[from - 1] ?? 0] ?? 0] ?? -1) : (starts[0] ?? -1);
  for (let at = from; at + depth <= bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    let state = start < 0 ? -1 : (next[start * classCount + (classOf[byte] ?? 0)] ?? -1);
    if (state >= 0) {
      let read = 1;
      for (; read < depth && state >= 0; read += 1) {
        state = next[state * classCount + (classOf[bytes[at + read] ?? 0] ?? 0)] ?? -1;
      }
      if (state >= 0) return at;
    }
    start = starts[CONTEXT_AFTER[byte] ?? 0] ?? -1;
  }
  return -1;
}

/**
 * The ends at which a pattern can stop within one of its matches, from left to right: the ends that the engine passes
 * before the end of the match, and that end itself. If the pattern prefers an end to a longer one, it is the end of the
 * match.
 */
export function endsWithin({ automaton, starts }: ProbePlan, bytes: Uint8Array, match: ByteRange): readonly number[] {
  const { next, classOf, classCount, matched } = automaton;
  const { start, end } = match;
  const ends: number[] = [];
  let state = start > 0 ? (starts[CONTEXT_AFTER[bytes[start - 1] ?? 0] ?? 0] ?? -1) : (starts[0] ?? -1);
  for (let at = start; at < end && state >= 0; at += 1) {
    state = next[state * classCount + (classOf[bytes[at] ?? 0] ?? 0)] ?? -1;
    // A state shows a match one byte late.
    if (state >= 0 && matched[state] === 1) ends.push(at);
  }
  ends.push(end);
  return ends;
}

/** The smallest shift at which the first `depth` bytes of two places can agree with each other. */
function distanceOf(automaton: Automaton, depth: number): number {
  const starts = startStates(automaton);
  if (starts.slice(1).every((state) => state < 0)) return Number.POSITIVE_INFINITY;
  let layer = new Map<number, ProbeState>();
  for (const [context, state] of starts.entries()) if (state >= 0) layer.set(state * 4 + context, { state, context });
  for (let shift = 1; shift <= depth; shift += 1) {
    layer = further(automaton, layer);
    if (agreeing(automaton, layer.values(), depth - shift)?.size !== 0) return shift;
  }
  return depth + 1;
}

/** The automaton states after one more byte. */
function further({ next, classOf, classCount }: Automaton, layer: ReadonlyMap<number, ProbeState>) {
  const below = new Map<number, ProbeState>();
  for (const { state: from } of layer.values()) {
    for (let byte = 0; byte < 256; byte += 1) {
      const state = next[from * classCount + (classOf[byte] ?? 0)] ?? -1;
      const context = CONTEXT_AFTER[byte] ?? 0;
      if (state >= 0) below.set(state * 4 + context, { state, context });
    }
  }
  return below;
}
