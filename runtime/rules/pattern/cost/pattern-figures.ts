import type { PatternSource } from '../syntax/pattern-tree.ts';
import type { Automaton } from './determinize.ts';

/** The figures of a plan to probe (probe-plan.ts). `distance` and `overlap` may be Infinity. */
export type ProbeFigures = {
  readonly distance: number;
  readonly scanned: number;
  readonly overlap: number;
  readonly memoryBytes: number;
};

/** How a pattern is searched, and the figures from which the cost on a text of any length follows. */
export type FiringFigures =
  /** In a set together with others, whose automaton is built ahead. */
  | { readonly plan: 'set'; readonly memoryBytes: number }
  | ({ readonly plan: 'probe' } & ProbeFigures)
  /** In a set whose automaton is too large to be built ahead, so that any text may make the engine build states. */
  | { readonly plan: 'unbounded-set'; readonly ranges: number };

/** The figures of listing matches by searching. */
export type SearchFigures = {
  /** Memory of the larger of both automata. */
  readonly memoryBytes: number;
  /** Whether each byte is read at most twice (rescan.ts). */
  readonly readsTwiceAtMost: boolean;
  /** Nanoseconds to build the whole backward automaton, and its costliest transition. */
  readonly buildAllNs: number;
  readonly buildMostNs: number;
};

/** The figures of listing the matches of a pattern; a way is undefined where its automaton is too large. */
export type ListingFigures = {
  readonly probe: ProbeFigures | undefined;
  readonly search: SearchFigures | undefined;
};

/**
 * The source of figures: computed from the automata, or known from an earlier validation. Figures follow from the
 * pattern and this build alone, so both are equal. A key is `keyOf` of one pattern.
 */
export type FigureSource = {
  firing(key: string, workOut: () => FiringFigures): FiringFigures;
  listing(key: string, workOut: () => ListingFigures): ListingFigures;
  /** Memory of the common automaton of a set in this order; undefined when it is too large. */
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
