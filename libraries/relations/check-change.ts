import { relationLimits } from './ports.ts';
import { RelationsModelError } from './relations-error.ts';
import { checkTuple, type Tuple } from './tuple.ts';

/**
 * Validates and deduplicates the tuples of a grant or revoke.
 * @throws RelationsModelError
 */
export function checkChange(tuples: readonly Tuple[]): readonly Tuple[] {
  const limit = relationLimits.tuples;
  if (tuples.length < 1 || tuples.length > limit) {
    throw new RelationsModelError('too_many', `a change takes 1 to ${limit} tuples, not ${tuples.length}: split it`);
  }
  for (const tuple of tuples) checkTuple(tuple);
  return [...new Map(tuples.map((tuple) => [[tuple.object, tuple.relation, tuple.subject].join(' '), tuple])).values()];
}

/** @throws RelationsModelError */
export function checkLimit(limit: number): void {
  if (Number.isInteger(limit) && limit >= 1 && limit <= relationLimits.page) return;
  throw new RelationsModelError('too_many', `a page holds 1 to ${relationLimits.page} tuples`);
}
