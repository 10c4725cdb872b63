import { v7 as uuid } from 'uuid';
import type { AuditContent } from '#contracts/audit';
import type { TransactionSql } from '#sql/connect';
import { takeNamedLock } from '#sql/named-lock';
import { RelationsUnavailableError, type Tuple } from '../ports.ts';
import { RelationsModelError, UndecidedChangeError } from '../relations-error.ts';
import { tupleText } from '../tuple.ts';
import { type ChangeRecord, createLeftChanges, type RecordPorts, type StoredChange } from './left-changes.ts';

type TupleChange<Refusal extends string> = {
  readonly action: 'grant' | 'revoke';
  readonly object: string;
  /** 1 to 100 different tuples of the object, which are changed together. */
  readonly tuples: readonly Tuple[];
  readonly entryOf: (tuple: Tuple) => AuditContent;
  /** Called while the lock is held, before the tuples are read: the reason why the author must not make the change. */
  readonly refusalOfAuthor: () => Promise<Refusal | undefined>;
  /**
   * The reason why the existing tuples of the object do not permit the change. Called only if the change has an effect.
   */
  readonly refusalOfHeld: (held: readonly Tuple[]) => Refusal | undefined;
};

export type RecordedChanges = {
  /**
   * Changes tuples of one object and adds the audit entry of each: all or nothing takes effect. Changes under one lock
   * are made one at a time. A caller must run fewer concurrent changes than half of the connections of the pool,
   * because each change needs a second connection.
   * @throws UndecidedChangeError, SqlUnavailableError: the change may have been made, and gets its entries later
   * @throws RelationsUnavailableError, RelationsModelError: no tuple has changed
   */
  change<Refusal extends string>(change: TupleChange<Refusal>): Promise<'changed' | 'unchanged' | Refusal>;
  /**
   * Adds the entries of interrupted changes that have none, once they are old enough. @throws the errors of `change`
   */
  settleLeft(): Promise<void>;
  /** Whether an object has changes without an entry, so that its tuples must be kept. */
  isLeft(object: string): Promise<boolean>;
};

/**
 * Changes of rights with their audit entries. If the rights are in the database of the service, right and entry are
 * written in one transaction. A store outside of the database has no common transaction with it: a change is recorded,
 * made, and its record is removed in the transaction of its entry (docs/decisions/0179). The state of the store shows
 * whether a change was made only until the next change of the same tuple, so that each change waits for the entry of
 * the previous one.
 */
export function createRecordedChanges(ports: RecordPorts, record: ChangeRecord): RecordedChanges {
  const { database, relations, audit } = ports;
  const { table, lockOf } = record;
  const left = createLeftChanges(ports, record);

  /** Changes that were stored before are settled in their own transaction: their entries stay if the new change fails. */
  async function settleFirst(object: string): Promise<string> {
    const before = await left.before();
    await left.settle(object, before);
    return before;
  }

  /** Makes a change in a store outside of the database, under the lock. */
  async function makeOutside(
    sql: TransactionSql,
    action: 'grant' | 'revoke',
    changes: readonly { readonly tuple: Tuple; readonly entry: AuditContent }[],
  ): Promise<void> {
    const rows = changes.map(({ tuple: { object, relation, subject }, entry }) => {
      return { change_id: uuid(), object, relation, subject, action, entry: JSON.stringify(entry) };
    });
    const ids = rows.map((row) => row.change_id);
    // This statement is outside of the transaction, because its row must exist if the process dies after the next
    // statement.
    await database.sql`insert into ${database.sql(table)} ${database.sql(rows)}`;
    let isSent = false;
    try {
      // The server ends a session that was idle for too long, and with it the lock: then this statement fails.
      await sql`select 1`;
      isSent = true;
      await relations[action](changes.map(({ tuple }) => tuple));
    } catch (error) {
      if (error instanceof RelationsUnavailableError) throw new UndecidedChangeError(error);
      if (!isSent || error instanceof RelationsModelError) {
        await database.sql`delete from ${database.sql(table)} where change_id in ${database.sql(ids)}`;
      }
      throw error;
    }
    await sql`delete from ${sql(table)} where change_id in ${sql(ids)}`;
  }

  return {
    async change({ action, object, tuples, entryOf, refusalOfAuthor, refusalOfHeld }) {
      const before = relations.joinsTransactions ? undefined : await settleFirst(object);
      return database.sql.beginOnce(async (sql) => {
        await takeNamedLock(sql, lockOf(object));
        const refused = await refusalOfAuthor();
        if (refused !== undefined) return refused;
        const stored = before === undefined ? [] : await left.since(sql, object, before);
        const held = await relations.tuplesOf(object);
        const open = withoutMade({ action, tuples }, held, stored);
        if (open.length === 0) return 'unchanged';
        const [least, most] = heldAround(held, stored).map(refusalOfHeld);
        if (least !== most) throw unsettled();
        if (least !== undefined) return least;
        const changes = open.map((tuple) => ({ tuple, entry: entryOf(tuple) }));
        if (relations.joinsTransactions) await relations[action](open, sql);
        else await makeOutside(sql, action, changes);
        await audit.append(
          sql,
          changes.map(({ entry }) => entry),
        );
        return 'changed';
      });
    },
    settleLeft: async () => (relations.joinsTransactions ? undefined : left.settleAll()),
    async isLeft(object) {
      if (relations.joinsTransactions) return false;
      const rows = await database.sql`select from ${database.sql(table)} where object = ${object} limit 1`;
      return rows.length > 0;
    },
  };
}

/**
 * The tuples that a change still has to change. A request to the store that got no answer may still arrive: if its
 * grant is already visible, its arrival changes nothing, so that another grant need not be made.
 * @throws RelationsUnavailableError for a tuple whose state a recorded change may still change
 */
function withoutMade(
  { action, tuples }: { readonly action: 'grant' | 'revoke'; readonly tuples: readonly Tuple[] },
  held: readonly Tuple[],
  stored: readonly StoredChange[],
): readonly Tuple[] {
  const names = new Set(held.map(tupleText));
  return tuples.filter((tuple) => {
    const isMade = names.has(tupleText(tuple)) === (action === 'grant');
    const own = stored.filter((one) => tupleText(one) === tupleText(tuple));
    if (own.length === 0) return !isMade;
    if (isMade && own.every((one) => one.action === action)) return false;
    throw unsettled();
  });
}

/** The minimum and maximum number of tuples that an object can have, whatever the outcome of the stored changes. */
function heldAround(held: readonly Tuple[], stored: readonly StoredChange[]): readonly (readonly Tuple[])[] {
  const revoked = new Set(stored.filter(({ action }) => action === 'revoke').map(tupleText));
  const granted = stored.filter(({ action }) => action === 'grant');
  const most = new Map([...held, ...granted].map((tuple) => [tupleText(tuple), tuple]));
  return [held.filter((tuple) => !revoked.has(tupleText(tuple))), [...most.values()]];
}

function unsettled(): RelationsUnavailableError {
  return new RelationsUnavailableError(undefined, false, 'an earlier change is not settled');
}
