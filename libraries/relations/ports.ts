import type { Tuple } from './tuple.ts';

export { RelationsModelError, RelationsUnavailableError } from './relations-error.ts';
export type { Tuple } from './tuple.ts';

/** How many tuples one grant or revoke takes, and how many one page holds at most. */
export const relationLimits = { tuples: 100, page: 100 } as const;

export type TuplePage = {
  readonly tuples: readonly Tuple[];
  /** For `after` of the next page; null at the end. */
  readonly next: string | null;
};

/**
 * Who has which relation to what. Every method throws RelationsUnavailableError where the store does not answer: the
 * caller fails closed, and a change may or may not have happened. It throws RelationsModelError for what the model does
 * not know, before anything is asked.
 */
export type Relations = AsyncDisposable & {
  /**
   * Whether a user or an agent has the relation, by a tuple of its own, by groups in groups, by another relation or by
   * a parent. It reflects every grant and revoke that was answered before it was called, by any process. It is one look
   * at one state: changes at the same time are seen whole or not at all. Groups that hold each other end in false.
   * Chains of more than 20 steps may throw RelationsModelError too_complex, and never give a right.
   */
  check(subject: string, relation: string, object: string): Promise<boolean>;

  /** Adds all tuples or none, 1 to 100 of them. One that is there already, or given twice, changes nothing. */
  grant(tuples: readonly Tuple[]): Promise<void>;

  /** Removes all tuples or none, 1 to 100 of them. One that is not there changes nothing. */
  revoke(tuples: readonly Tuple[]): Promise<void>;

  /**
   * Tuples, page by page, in an order that the store chooses. Each that is there throughout the walk is given exactly
   * once; one that comes or goes meanwhile may be given or not.
   * @param options.limit 1 to 100; a page may hold less, the end is told by `next` alone
   */
  listTuples(options: { readonly limit: number; readonly after?: string }): Promise<TuplePage>;
};
