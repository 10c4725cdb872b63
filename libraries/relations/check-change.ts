import { relationLimits, type TupleReplacement } from './ports.ts';
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
  return [...new Map(tuples.map((tuple) => [keyOf(tuple), tuple])).values()];
}

/**
 * Validates and deduplicates the tuples of a replacement.
 * @throws RelationsModelError
 */
export function checkReplacement({ removed, added }: TupleReplacement): TupleReplacement {
  const all = checkChange([...removed, ...added]);
  const isRemoved = new Set(removed.map(keyOf));
  const both = added.find((tuple) => isRemoved.has(keyOf(tuple)));
  if (both !== undefined) throw new Error('a tuple is removed and added by the same change');
  return {
    removed: all.filter((tuple) => isRemoved.has(keyOf(tuple))),
    added: all.filter((tuple) => !isRemoved.has(keyOf(tuple))),
  };
}

/** @throws RelationsModelError */
export function checkLimit(limit: number): void {
  if (Number.isInteger(limit) && limit >= 1 && limit <= relationLimits.page) return;
  throw new RelationsModelError('too_many', `a page holds 1 to ${relationLimits.page} tuples`);
}

function keyOf({ object, relation, subject }: Tuple): string {
  return [object, relation, subject].join(' ');
}
