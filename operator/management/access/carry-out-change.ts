import { v7 as uuid } from 'uuid';
import type { AuditLog } from '#audit/ports';
import { type AuditContent, auditContentSchema } from '#contracts/audit';
import { type Relations, RelationsUnavailableError, type Tuple } from '#relations/ports';
import { RelationsModelError } from '#relations/relations-error';
import type { Database, TransactionSql } from '#sql/connect';

type ChangePorts = {
  readonly database: Pick<Database, 'sql'>;
  readonly relations: Pick<Relations, 'grant' | 'revoke' | 'tuplesOf' | 'joinsTransactions'>;
};

type TupleChange = { readonly action: 'grant' | 'revoke'; readonly tuple: Tuple; readonly entry: AuditContent };

/** The store of rights did not answer to a change, which may have been made. It gets its entry later. */
export class UndecidedChangeError extends RelationsUnavailableError {
  constructor(cause: RelationsUnavailableError) {
    super(cause, cause.isLate);
    this.name = 'UndecidedChangeError';
  }
}

/**
 * Makes one change of rights, under the lock of all changes. The caller adds its audit entry in the transaction: both or neither
 * take effect. A store outside of the database has no common transaction with it: there the change is stored before it is made.
 * @throws UndecidedChangeError; RelationsUnavailableError if nothing has changed
 */
export async function carryOutChange(
  { database, relations }: ChangePorts,
  sql: TransactionSql,
  { action, tuple, entry }: TupleChange,
): Promise<void> {
  if (relations.joinsTransactions) {
    await relations[action]([tuple], sql);
    return;
  }
  // The server ends a session that was idle for too long, and with it the lock: then this statement fails.
  await sql`select 1`;
  const changeId = uuid();
  // Outside of this transaction: it must be there if the process dies after the next statement.
  await database.sql`
    insert into management.right_changes (change_id, object, relation, subject, action, entry)
    values (${changeId}, ${tuple.object}, ${tuple.relation}, ${tuple.subject}, ${action}, ${JSON.stringify(entry)})`;
  try {
    await relations[action]([tuple]);
  } catch (error) {
    if (error instanceof RelationsUnavailableError) throw new UndecidedChangeError(error);
    // Nothing was sent.
    if (error instanceof RelationsModelError) {
      await database.sql`delete from management.right_changes where change_id = ${changeId}`;
    }
    throw error;
  }
  await sql`delete from management.right_changes where change_id = ${changeId}`;
}

/**
 * Longest time from when a change is stored until the store of rights has answered, seconds. A younger change may be in progress,
 * although the lock is free: its process may have lost the lock.
 */
const longestSeconds = 30;
/** Changes that are settled in one transaction. */
const batch = 100;

type LeftRow = Pick<Tuple, 'object' | 'relation' | 'subject'> & {
  readonly change_id: string;
  readonly action: 'grant' | 'revoke';
  readonly entry: string;
};

type LeftChanges = {
  /** The object of a change that can be settled; undefined if there is none. */
  find(): Promise<string | undefined>;
  /** Under the lock, whether an object has a change that was left. */
  isLeft(sql: TransactionSql, object: string): Promise<boolean>;
  /**
   * Removes changes that were left, under the lock, and adds their entries: accepted where the store shows that the change was
   * made, otherwise failed.
   */
  settle(sql: TransactionSql): Promise<void>;
};

/** The changes of rights that were left without an entry: by a killed process, or a store that did not answer. */
export function createLeftChanges(
  { database, relations, audit }: ChangePorts & { readonly audit: Pick<AuditLog, 'append'> },
  onUnreadable: (changeId: string) => void,
): LeftChanges {
  const reported = new Set<string>();

  /** The entry; undefined for one that a newer release wrote, which that release settles. */
  function entryOf({ change_id, entry }: LeftRow): AuditContent | undefined {
    const { data } = auditContentSchema.safeParse(JSON.parse(entry));
    if (data === undefined && !reported.has(change_id)) {
      reported.add(change_id);
      onUnreadable(change_id);
    }
    return data;
  }

  async function read(sql: Database['sql'] | TransactionSql) {
    const rows = await sql<LeftRow[]>`
      select change_id, object, relation, subject, action, entry from management.right_changes
      where created_at < clock_timestamp() - make_interval(secs => ${longestSeconds})
      order by created_at limit ${batch}`;
    return rows.flatMap((row) => {
      const entry = entryOf(row);
      return entry === undefined ? [] : [{ ...row, entry }];
    });
  }

  return {
    async find() {
      return relations.joinsTransactions ? undefined : (await read(database.sql))[0]?.object;
    },
    async isLeft(sql, object) {
      if (relations.joinsTransactions) return false;
      const rows = await sql<LeftRow[]>`
        select change_id, object, relation, subject, action, entry from management.right_changes
        where object = ${object}`;
      return rows.some((row) => entryOf(row) !== undefined);
    },
    async settle(sql) {
      const left = await read(sql);
      if (left.length === 0) return;
      const entries: AuditContent[] = [];
      for (const { action, object, relation, subject, entry } of left) {
        const held = await relations.tuplesOf(object);
        const isHeld = held.some((one) => one.relation === relation && one.subject === subject);
        const isMade = isHeld === (action === 'grant');
        entries.push(isMade ? entry : { ...entry, outcome: 'failed', code: 'authorization_unavailable' });
      }
      await sql`delete from management.right_changes where change_id in ${sql(left.map((row) => row.change_id))}`;
      await audit.append(sql, entries);
    },
  };
}
