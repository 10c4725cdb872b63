import { type FigureSource, workedOut } from '../cost/pattern-figures.ts';

/**
 * How patterns are compiled. `prepared` is for serving traffic: the automata are built and the engine traverses them,
 * so that no check does that work. `direct` is for judging a policy and a few texts: the engine is called without
 * preparation and finds the same matches, and no automaton is needed if the figures are known.
 */
export type Matching = { readonly kind: 'prepared' | 'direct'; readonly figures: FigureSource };

export const preparedMatching: Matching = { kind: 'prepared', figures: workedOut };
