import { v7 as uuid } from 'uuid';
import type { AuditLog } from '#audit/ports';
import { type AuditContent, auditContentSchema } from '#contracts/audit';
import type { Relations, Tuple } from '#relations/ports';
import type { Database, TransactionSql } from '#sql/connect';

export type ChangePorts = {
  readonly database: Database;
  readonly relations: Relations;
  readonly audit: Pick<AuditLog, 'append'>;
};

type RelationChange = {
  readonly action: 'grant' | 'revoke';
  readonly tuple: Tuple;
  readonly entry: AuditContent;
  /** Most tuples of the object after a grant. */
  readonly most: number;
};

/** `too_many`: the object is at its limit. Nothing has changed, except for `changed`. */
type ChangedRelation = 'changed' | 'unchanged' | 'too_many';

/**
 * Changes a relation and adds its audit entry: both or neither. Changes of one object are made one at a time. A store outside of the
 * database has no common transaction with it: there the change is stored before it is made, and one that was left is settled by
 * the next change of the object, or by `settleRelationChanges`. So nothing is repeated here.
 * @throws RelationsUnavailableError: the relation may have changed, and then gets its entry later
 */
export async function changeNoted(ports: ChangePorts, change: RelationChange): Promise<ChangedRelation> {
  const { database, relations, audit } = ports;
  const { action, tuple, entry, most } = change;
  return database.sql.beginOnce(async (sql) => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${lockOf(tuple.object)}, 0))`;
    await settleLeft(ports, sql, tuple.object);
    const held = await relations.tuplesOf(tuple.object);
    if (isHeld(held, tuple) === (action === 'grant')) return 'unchanged';
    if (action === 'grant' && held.length >= most) return 'too_many';
    if (relations.joinsTransactions) {
      await relations[action]([tuple], sql);
    } else {
      const changeId = uuid();
      // Outside of this transaction: it must be there if the process dies after the next statement.
      await database.sql`
        insert into retrieval.relation_changes (change_id, object, relation, subject, action, entry)
        values (${changeId}, ${tuple.object}, ${tuple.relation}, ${tuple.subject}, ${action}, ${JSON.stringify(entry)})`;
      await relations[action]([tuple]);
      await sql`delete from retrieval.relation_changes where change_id = ${changeId}`;
    }
    await audit.append(sql, [entry]);
    return 'changed';
  });
}

/**
 * Adds the entries of changes that were made and left without one. Changes in progress are not touched.
 * @returns how many objects had one
 */
export async function settleRelationChanges(ports: ChangePorts): Promise<number> {
  const objects = await ports.database.sql<{ object: string }[]>`
    select distinct object from retrieval.relation_changes order by object limit 100`;
  for (const { object } of objects) {
    await ports.database.sql.begin(async (sql) => {
      const [lock] = await sql<{ free: boolean }[]>`
        select pg_try_advisory_xact_lock(hashtextextended(${lockOf(object)}, 0)) as free`;
      if (lock?.free === true) await settleLeft(ports, sql, object);
    });
  }
  return objects.length;
}

type LeftRow = Pick<Tuple, 'object' | 'relation' | 'subject'> & {
  readonly change_id: string;
  readonly action: 'grant' | 'revoke';
  readonly entry: string;
};

/** Under the lock of the object, so that every stored change is one that was left, and the store shows whether it was made. */
async function settleLeft({ relations, audit }: ChangePorts, sql: TransactionSql, object: string): Promise<void> {
  const left = await sql<LeftRow[]>`
    select change_id, object, relation, subject, action, entry from retrieval.relation_changes
    where object = ${object} order by created_at`;
  if (left.length === 0) return;
  const held = await relations.tuplesOf(object);
  const made = left.filter((row) => isHeld(held, row) === (row.action === 'grant'));
  await sql`delete from retrieval.relation_changes where change_id in ${sql(left.map((row) => row.change_id))}`;
  await audit.append(
    sql,
    made.map(({ entry }) => auditContentSchema.parse(JSON.parse(entry))),
  );
}

function lockOf(object: string): string {
  return `retrieval relations of ${object}`;
}

function isHeld(held: readonly Tuple[], { subject, relation }: Tuple): boolean {
  return held.some((one) => one.subject === subject && one.relation === relation);
}
