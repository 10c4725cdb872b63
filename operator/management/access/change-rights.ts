import type { ChangeAuthor } from '#audit/change-entry';
import type { ControlRight } from '#contracts/rights';
import type { Clock } from '#kit/time/clock';
import type { RecordedChanges } from '#relations/changes/recorded-changes';
import { controlPlane } from '#relations/model';
import { type Relations, relationLimits, type Tuple } from '#relations/ports';
import { RelationsModelError } from '#relations/relations-error';
import { userSubject } from '#relations/subject';
import { tupleText } from '#relations/tuple';
import { awaitUndecided, type UndecidedCommands } from './await-undecided.ts';
import { oneAtATime } from './lock-rights.ts';
import { rightEntry } from './record-rights.ts';
import { roleRight } from './required-right.ts';
import { rightOfTuple, tupleOfRight } from './right-tuples.ts';
import type { Rights } from './rights.ts';

/** The author of a change of rights. */
type RightChange = ChangeAuthor & {
  /** Groups of the token, as objects of relations. */
  readonly groups: readonly string[];
};

type ChangedRight =
  | 'changed'
  | 'unchanged'
  /** The right belongs to the last administrator: no other administrator is known. */
  | 'last'
  /** The right is revoked, and a command that was stored before has not ended. */
  | 'undecided'
  /** The author lost the right to administer after the request was authorized. */
  | 'no_right';

export type RightChanges = {
  /** Every right to the control plane, to policies and to models. */
  list(): Promise<readonly ControlRight[]>;
  grant(right: ControlRight, by: RightChange): Promise<ChangedRight>;
  /**
   * Revokes a right. After the promise resolves, except to `undecided`, no command of the holder is accepted that
   * depended on the right.
   */
  revoke(right: ControlRight, by: RightChange): Promise<ChangedRight>;
};

/**
 * Changes rights one at a time over all replicas. Each change that takes effect has exactly one entry in the audit log.
 * Every method throws RelationsUnavailableError, SqlUnavailableError or RecordsUnavailableError; `grant` and `revoke` throw
 * UndecidedChangeError if the change may have been made.
 */
export function createRightChanges(options: {
  readonly record: Pick<RecordedChanges, 'change'>;
  readonly relations: Pick<Relations, 'listTuples' | 'groupsOf'>;
  readonly rights: Rights;
  readonly store: UndecidedCommands;
  readonly clock: Clock;
}): RightChanges {
  const { record, relations, rights, store, clock } = options;
  const inTurn = oneAtATime();

  function change(action: 'grant' | 'revoke', right: ControlRight, by: RightChange): Promise<ChangedRight> {
    const tuple = tupleOfRight(right);
    const mayBeLast = action === 'revoke' && isAdministrator(tuple);
    let groups: readonly string[] = [];
    return inTurn(() =>
      record.change<'no_right' | 'last'>({
        action,
        object: tuple.object,
        tuples: [tuple],
        entryOf: () => rightEntry(action, tuple, by, clock.date()),
        async refusalOfAuthor() {
          if (!(await mayChange(rights, by))) return 'no_right';
          if (mayBeLast) groups = await groupsOf(relations, by);
          return undefined;
        },
        refusalOfHeld: (held) => (mayBeLast && isLastAdministrator(held, tuple, groups) ? 'last' : undefined),
      }),
    );
  }

  return {
    async list() {
      const found: { readonly text: string; readonly right: ControlRight }[] = [];
      let after: string | undefined;
      do {
        const page = await relations.listTuples({
          limit: relationLimits.page,
          ...(after === undefined ? {} : { after }),
        });
        // The store may have rights on very many documents in addition to the rights that are listed here.
        for (const tuple of page.tuples) {
          const right = rightOfTuple(tuple);
          if (right !== undefined) found.push({ text: tupleText(tuple), right });
        }
        after = page.next ?? undefined;
      } while (after !== undefined);
      return found.toSorted((a, b) => (a.text < b.text ? -1 : 1)).map(({ right }) => right);
    },
    grant: (right, by) => change('grant', right, by),
    async revoke(right, by) {
      const changed = await change('revoke', right, by);
      if (changed === 'no_right' || changed === 'last') return changed;
      return (await awaitUndecided(store, clock)) ? changed : 'undecided';
    },
  };
}

/**
 * Whether the author may make the change. This is checked while the lock of all changes is held: a change that waited
 * while its author's right was revoked must not take effect after the answer to that revocation. The emergency caller
 * has no right that could be revoked.
 */
async function mayChange(rights: Rights, by: RightChange): Promise<boolean> {
  return by.author.kind !== 'token' || (await rights.has(by, roleRight('administer')));
}

/**
 * The groups of the author; none for the emergency caller, and for an author with more groups than the store can
 * follow.
 */
async function groupsOf(relations: Pick<Relations, 'groupsOf'>, { author, groups }: RightChange) {
  if (author.kind !== 'token') return [];
  try {
    return await relations.groupsOf(userSubject(author), groups);
  } catch (error) {
    if (error instanceof RelationsModelError) return [];
    throw error;
  }
}

function isAdministrator({ object, relation }: Tuple): boolean {
  return object === controlPlane && relation === 'administer';
}

/**
 * Whether the tuples of the control plane have no other administrator. A group counts only if the author is a member: the members
 * of other groups are known to their issuer only, so that they may have none.
 */
function isLastAdministrator(held: readonly Tuple[], tuple: Tuple, groups: readonly string[]): boolean {
  const counting = new Set(groups.map((group) => `${group}#member`));
  return !held.some(
    (one) =>
      isAdministrator(one) &&
      tupleText(one) !== tupleText(tuple) &&
      (one.subject.startsWith('user:') || counting.has(one.subject)),
  );
}
