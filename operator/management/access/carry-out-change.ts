import { v7 as uuid } from 'uuid';
import { type AuditContent, auditContentSchema } from '#contracts/audit';
import type { Relations, Tuple } from '#relations/ports';
import type { Database, TransactionSql } from '#sql/connect';

type ChangePorts = {
  readonly database: Pick<Database, 'sql'>;
  readonly relations: Pick<Relations, 'grant' | 'revoke' | 'tuplesOf' | 'joinsTransactions'>;
};

type TupleChange = { readonly action: 'grant' | 'revoke'; readonly tuple: Tuple; readonly entry: AuditContent };

/**
 * Makes one change of rights, under the lock of all changes. The caller adds its audit entry in the transaction: both or neither
 * take effect. A store outside of the database has no common transaction with it: there the change is stored before it is made.
 * @throws RelationsUnavailableError: the right may have changed, and then gets its entry later
 */
export async function carryOutChange(
  { database, relations }: ChangePorts,
  sql: TransactionSql,
  { action, tuple, entry }: TupleChange,
): Promise<void> {
  if (relations.joinsTransactions) {
    await relations[action]([tuple], sql);
  } else {
    const changeId = uuid();
    // Outside of this transaction: it must be there if the process dies after the next statement.
    await database.sql`
      insert into management.right_changes (change_id, object, relation, subject, action, entry)
      values (${changeId}, ${tuple.object}, ${tuple.relation}, ${tuple.subject}, ${action}, ${JSON.stringify(entry)})`;
    await relations[action]([tuple]);
    await sql`delete from management.right_changes where change_id = ${changeId}`;
  }
}

type LeftRow = Pick<Tuple, 'object' | 'relation' | 'subject'> & {
  readonly change_id: string;
  readonly action: 'grant' | 'revoke';
  readonly entry: string;
};

/**
 * Removes the changes that were left without an entry. Under the lock of all changes, so that none of them is in progress.
 * @returns their entries, for this transaction: accepted where the store shows that the change was made, otherwise failed
 */
export async function takeLeftChanges(
  { relations }: ChangePorts,
  sql: TransactionSql,
): Promise<readonly AuditContent[]> {
  if (relations.joinsTransactions) return [];
  const left = await sql<LeftRow[]>`
    select change_id, object, relation, subject, action, entry from management.right_changes order by created_at`;
  const entries: AuditContent[] = [];
  for (const { action, object, relation, subject, entry } of left) {
    const held = await relations.tuplesOf(object);
    const isHeld = held.some((one) => one.relation === relation && one.subject === subject);
    const content = auditContentSchema.parse(JSON.parse(entry));
    const isMade = isHeld === (action === 'grant');
    entries.push(isMade ? content : { ...content, outcome: 'failed', code: 'authorization_unavailable' });
  }
  if (left.length === 0) return [];
  await sql`delete from management.right_changes where change_id in ${sql(left.map((row) => row.change_id))}`;
  return entries;
}

/** Whether a change was left, or is in progress. */
export async function hasLeftChange({ database, relations }: ChangePorts): Promise<boolean> {
  if (relations.joinsTransactions) return false;
  const rows = await database.sql`select from management.right_changes limit 1`;
  return rows.length > 0;
}
