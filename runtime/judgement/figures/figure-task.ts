import { analysePattern } from '../../rules/pattern/cost/analyse-pattern.ts';
import { keyOf, workedOut } from '../../rules/pattern/cost/pattern-figures.ts';
import { parsePattern } from '../../rules/pattern/syntax/parse-pattern.ts';
import type { PatternSource } from '../../rules/pattern/syntax/pattern-tree.ts';
import type { WorkedOut } from './figure-book.ts';

/** A pattern whose figures are not known. */
export type FigureTask = PatternSource & {
  /** Whether its matches are listed, because a rule masks them. */
  readonly lists: boolean;
};

/** Computes the figures of a pattern; undefined for a pattern with refused syntax. */
export function runFigureTask(task: FigureTask): WorkedOut | undefined {
  const tree = parsePattern(task);
  if ('reason' in tree) return undefined;
  const { firing, listing } = analysePattern(tree, keyOf(task), workedOut);
  const figures = firing.figures();
  return {
    firing: figures,
    ...(task.lists ? { listing: listing.figures() } : {}),
    ...(figures.plan === 'set' ? { set: firing.set() } : {}),
  };
}
