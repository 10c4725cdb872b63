import type { PatternSource } from '../syntax/pattern-tree.ts';
import type { Automaton } from './determinize.ts';

/** The figures of a plan to probe (probe-plan.ts). `distance` and `overlap` may be Infinity. */
export type ProbeFigures = {
  readonly distance: number;
  readonly scanned: number;
  readonly overlap: number;
  readonly memoryBytes: number;
};

/** The way in which a pattern is searched, and the figures from which its cost for a text of any length is computed. */
export type FiringFigures =
  /** The pattern is in a set with other patterns, whose automaton is built in advance. */
  | { readonly plan: 'set'; readonly memoryBytes: number }
  | ({ readonly plan: 'probe' } & ProbeFigures)
  /**
   * The pattern is in a set whose automaton is too large to be built in advance, so that any text may make the engine
   * build states.
   */
  | { readonly plan: 'unbounded-set'; readonly ranges: number };

/** The figures of listing matches by searching. */
export type SearchFigures = {
  /** Memory of the larger one of both automata. */
  readonly memoryBytes: number;
  /** Whether each byte is read at most twice (rescan.ts). */
  readonly readsTwiceAtMost: boolean;
  /** Nanoseconds to build the whole backward automaton, and its costliest transition. */
  readonly buildAllNs: number;
  readonly buildMostNs: number;
};

/** The figures for listing the matches of a pattern; a way is undefined if its automaton is too large. */
export type ListingFigures = {
  readonly probe: ProbeFigures | undefined;
  readonly search: SearchFigures | undefined;
};

/**
 * The source of figures: computed from the automata, or known from an earlier validation. Figures depend only on the
 * pattern and this build, so that both are equal. A key is the `keyOf` of one pattern.
 */
export type FigureSource = {
  firing(key: string, workOut: () => FiringFigures): FiringFigures;
  listing(key: string, workOut: () => ListingFigures): ListingFigures;
  /** Memory of the common automaton of a set in this order; undefined if it is too large. */
  joint(keys: readonly string[], workOut: () => number | undefined): number | undefined;
  /** The automaton of the set of this pattern alone. */
  set(key: string, build: () => Automaton | undefined): Automaton | undefined;
};

/** Names a pattern: equal for equal patterns only. */
export function keyOf({ pattern, caseSensitive }: PatternSource): string {
  return `${caseSensitive ? '=' : '~'}${pattern}`;
}

/** Works out all figures. */
export const workedOut: FigureSource = {
  firing: (_key, workOut) => workOut(),
  listing: (_key, workOut) => workOut(),
  joint: (_keys, workOut) => workOut(),
  set: (_key, build) => build(),
};
