import type { TransactionSql } from '#sql/connect';
import type { ObjectType } from './model.ts';
import type { Tuple } from './tuple.ts';

export { RelationsUnavailableError } from './relations-error.ts';
export type { Tuple } from './tuple.ts';

/**
 * Maximum number of tuples of one grant or revoke, and of one page; maximum number of groups that one call claims: the
 * groups of a token and `authenticatedAll`.
 */
export const relationLimits = { tuples: 100, page: 100, claimedGroups: 101 } as const;

/** A part of the objects that a subject reaches. */
export type ObjectWindow = {
  /** The first object that may be returned, whether it exists or not; absent for the first of the type. */
  readonly from?: string;
  /** The last object that may be returned; absent for the last of the type. */
  readonly to?: string;
  /** Maximum number of objects, at least 1. */
  readonly limit: number;
};

export type TupleReplacement = { readonly removed: readonly Tuple[]; readonly added: readonly Tuple[] };

export type TuplePage = {
  readonly tuples: readonly Tuple[];
  /** Cursor for `after` of the next page; null on the last page. */
  readonly next: string | null;
};

/**
 * Groups that the verified token of the subject names, each `group:…`. For one call, the subject counts as a member of
 * these groups.
 */
type ClaimedGroups = readonly string[];

/** Whether one subject has a relation to an object. */
export type RelationChecker = (relation: string, object: string) => Promise<boolean>;

/**
 * A store of relations. Every method throws RelationsUnavailableError if the store does not answer: callers fail closed,
 * and a change may or may not have taken effect. It throws RelationsModelError, before any call, for arguments that the
 * model does not allow.
 */
export type Relations = AsyncDisposable & {
  /** Whether `grant` and `revoke` make their change in the transaction that is passed to them. */
  readonly joinsTransactions: boolean;

  /**
   * Whether a user or an agent has the relation: by its own tuple, by nested groups, by another relation or by a
   * parent. The answer reflects every grant and revoke that any process completed before the call, and a concurrent
   * change as a whole or not at all. Cyclic groups grant no right. A chain of more than 20 steps may throw
   * RelationsModelError too_complex. For a relation that only tuples grant, the cost depends on the subject and its
   * groups, and not on other subjects of the object: a hidden object costs as much as a missing one. If the subject has
   * more groups than a store can follow in this way, the cost may depend on other subjects.
   */
  check(subject: string, relation: string, object: string, claimed?: ClaimedGroups): Promise<boolean>;

  /**
   * Like `check`, for several relations or objects of one subject: its groups are read at most once, when a question
   * first needs them. The answers reflect each change that any process completed before this call.
   */
  checkerOf(subject: string, claimed?: ClaimedGroups): RelationChecker;

  /**
   * Every group that has a user or an agent as a member, directly or by nested groups, claimed groups included; in order,
   * without duplicates. Complete and as current as `check`, or an error: RelationsModelError too_complex for more than
   * the store can follow.
   */
  groupsOf(subject: string, claimed?: ClaimedGroups): Promise<readonly string[]>;

  /** Every object of a type to which `check` would allow the relation; complete or an error like groupsOf. */
  objectsOf(subject: string, relation: string, type: ObjectType, claimed?: ClaimedGroups): Promise<readonly string[]>;

  /**
   * A part of the objects of objectsOf, starting at one object, in the order of their characters for names in ASCII.
   * There are fewer than the limit only at the end. The subject may be `group:…#member`, for the relations that every
   * member of a group has through the group. The cost depends on the relations of the subject, and not on other objects
   * or their subjects; if the subject has more relations than a store can follow in this way, RelationsModelError
   * too_complex is thrown.
   */
  nextObjects(
    subject: string,
    relation: string,
    type: ObjectType,
    window: ObjectWindow,
    claimed?: ClaimedGroups,
  ): Promise<readonly string[]>;

  /** `check` of each object of a type, in the order of the objects. The work may depend on other subjects of the objects. */
  checkEach(
    subject: string,
    relation: string,
    objects: readonly string[],
    claimed?: ClaimedGroups,
  ): Promise<readonly boolean[]>;

  /** Every tuple of an object itself, in the order of relation and subject; complete or an error like groupsOf. */
  tuplesOf(object: string): Promise<readonly Tuple[]>;

  /**
   * Adds 1 to 100 tuples atomically. Existing and repeated tuples change nothing.
   * @param within a transaction of the database of the service. A store in this database makes the change in this
   * transaction; any other store makes the change immediately, even if the transaction is rolled back
   */
  grant(tuples: readonly Tuple[], within?: TransactionSql): Promise<void>;

  /** Removes 1 to 100 tuples atomically, `within` like grant. Absent tuples change nothing. */
  revoke(tuples: readonly Tuple[], within?: TransactionSql): Promise<void>;

  /**
   * Removes tuples and adds others, 1 to 100 together, atomically: no check sees a part of the change. A tuple may be
   * in one of the two lists only. `within` like grant.
   */
  replace(change: TupleReplacement, within?: TransactionSql): Promise<void>;

  /**
   * A page of tuples in the order of the store. A tuple that exists while all pages are read is returned exactly once;
   * a tuple that is added or removed meanwhile may be missing.
   * @param options.limit 1 to 100; a page may have fewer entries, only `next` marks the end
   */
  listTuples(options: { readonly limit: number; readonly after?: string }): Promise<TuplePage>;
};
