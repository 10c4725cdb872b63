import { type FigureSource, workedOut } from '../cost/pattern-figures.ts';

/**
 * How patterns are compiled. `prepared` serves traffic: the automata are built, and the engine is led through them, so
 * that no check does that work. `direct` judges a policy and a few texts: the engine is called without preparation and
 * finds the same matches, and known figures need no automaton.
 */
export type Matching = { readonly kind: 'prepared' | 'direct'; readonly figures: FigureSource };

export const preparedMatching: Matching = { kind: 'prepared', figures: workedOut };
