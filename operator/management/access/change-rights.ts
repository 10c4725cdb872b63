import { type ChangeAuthor, changeEntry } from '#audit/change-entry';
import type { AuditLog } from '#audit/ports';
import type { AuditContent } from '#contracts/audit';
import type { ControlRight } from '#contracts/rights';
import type { Logger } from '#kit/log/logger';
import type { Clock } from '#kit/time/clock';
import { controlPlane } from '#relations/model';
import { type Relations, RelationsUnavailableError, relationLimits, type Tuple } from '#relations/ports';
import type { Database, TransactionSql } from '#sql/connect';
import { awaitUndecided, type UndecidedCommands } from './await-undecided.ts';
import { carryOutChange, createLeftChanges } from './carry-out-change.ts';
import { createRightsLock, underFreeRightsLock } from './lock-rights.ts';
import { roleRight } from './required-right.ts';
import { rightOfTuple, tupleOfRight } from './right-tuples.ts';
import type { Rights } from './rights.ts';

/** The author of a change of rights. */
type RightChange = ChangeAuthor & {
  /** Groups of the token, as objects of relations. */
  readonly groups: readonly string[];
};

type ChangedRight =
  | { readonly kind: 'changed'; readonly changed: boolean }
  /** The right belongs to the last administrator. */
  | { readonly kind: 'last' }
  /** The right is revoked, and a command that was stored before has not ended. */
  | { readonly kind: 'undecided' }
  /** The author lost the right to administer after the request was authorized. */
  | { readonly kind: 'no_right' };

export type RightChanges = {
  /** Every right to the control plane, to policies and to models. */
  list(): Promise<readonly ControlRight[]>;
  grant(right: ControlRight, by: RightChange): Promise<ChangedRight>;
  /** After it resolves, except to `undecided`, no command of the holder is accepted that depended on the right. */
  revoke(right: ControlRight, by: RightChange): Promise<ChangedRight>;
  /** Adds the entries of changes that a killed process made, or left to a store that did not answer, once they are old enough. */
  settleLeft(): Promise<void>;
};

/**
 * Changes rights one at a time over all replicas. Each change that takes effect has one entry in the audit log, and no other one.
 * A change of an object waits for the entries of earlier ones: until then it is refused with RelationsUnavailableError.
 * `grant` and `revoke` throw UndecidedChangeError if the change may have been made. Every method throws RelationsUnavailableError, SqlUnavailableError or RecordsUnavailableError.
 */
export function createRightChanges(options: {
  readonly database: Pick<Database, 'sql'>;
  readonly relations: Pick<Relations, 'grant' | 'revoke' | 'tuplesOf' | 'listTuples' | 'joinsTransactions'>;
  readonly rights: Rights;
  readonly audit: Pick<AuditLog, 'append'>;
  readonly store: UndecidedCommands;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'error'>;
}): RightChanges {
  const { database, relations, rights, audit, store, clock, logger } = options;
  const ports = { database, relations };
  const locked = createRightsLock(database);
  const leftChanges = createLeftChanges({ ...ports, audit }, (change) =>
    logger.error('right_change_unreadable', { change }),
  );

  /** @returns the entry of a change that was made, with the result */
  async function changeOnce(
    transaction: TransactionSql,
    action: 'grant' | 'revoke',
    { right, by }: { readonly right: ControlRight; readonly by: RightChange },
  ): Promise<{ readonly result: ChangedRight; readonly entry?: AuditContent }> {
    const tuple = tupleOfRight(right);
    if (!(await mayChange(rights, by))) return { result: { kind: 'no_right' } };
    // What the store shows after this change says nothing about one that was left.
    if (await leftChanges.isLeft(transaction, tuple.object)) {
      throw new RelationsUnavailableError(undefined, false, 'an earlier change is not settled');
    }
    const held = await relations.tuplesOf(tuple.object);
    const isHeld = held.some((one) => textOf(one) === textOf(tuple));
    if (isHeld === (action === 'grant')) return { result: { kind: 'changed', changed: false } };
    if (action === 'revoke' && isLastAdministrator(held, tuple)) return { result: { kind: 'last' } };
    const entry = entryOf(action, tuple, by, clock.date());
    await carryOutChange(ports, transaction, { action, tuple, entry });
    return { result: { kind: 'changed', changed: true }, entry };
  }

  async function change(action: 'grant' | 'revoke', right: ControlRight, by: RightChange): Promise<ChangedRight> {
    // In a separate transaction: if the new change fails, the entries stay.
    if ((await leftChanges.find()) !== undefined) await locked(leftChanges.settle);
    return locked(async (transaction) => {
      const { result, entry } = await changeOnce(transaction, action, { right, by });
      await audit.append(transaction, entry === undefined ? [] : [entry]);
      return result;
    });
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
        // The store may have rights on very many documents beside those that are listed here.
        for (const tuple of page.tuples) {
          const right = rightOfTuple(tuple);
          if (right !== undefined) found.push({ text: textOf(tuple), right });
        }
        after = page.next ?? undefined;
      } while (after !== undefined);
      return found.toSorted((a, b) => (a.text < b.text ? -1 : 1)).map(({ right }) => right);
    },
    grant: (right, by) => change('grant', right, by),
    async revoke(right, by) {
      const changed = await change('revoke', right, by);
      if (changed.kind !== 'changed') return changed;
      return (await awaitUndecided(store, clock)) ? changed : { kind: 'undecided' };
    },
    async settleLeft() {
      const object = await leftChanges.find();
      if (object === undefined) return;
      // While the store does not answer, the lock stays free.
      await relations.tuplesOf(object);
      await underFreeRightsLock(database, leftChanges.settle);
    },
  };
}

/**
 * Asked under the lock of all changes: a change that waited while its author's right was revoked must not take effect
 * after the answer of that revocation. The emergency caller has no right that could be revoked.
 */
async function mayChange(rights: Rights, by: RightChange): Promise<boolean> {
  return by.author.kind !== 'token' || (await rights.has(by, roleRight('administer')));
}

function isLastAdministrator(held: readonly Tuple[], tuple: Tuple): boolean {
  const isOne = (one: Tuple): boolean => one.object === controlPlane && one.relation === 'administer';
  return isOne(tuple) && held.filter(isOne).length === 1;
}

function textOf({ object, relation, subject }: Tuple): string {
  return `${object}#${relation}@${subject}`;
}

function entryOf(action: 'grant' | 'revoke', tuple: Tuple, by: RightChange, now: Date): AuditContent {
  const target = { type: 'control_plane', id: textOf(tuple) } as const;
  return changeEntry({ action: `administrator.${action}`, target }, by, now);
}
