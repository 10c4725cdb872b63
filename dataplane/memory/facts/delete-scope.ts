import type { Database, TransactionSql } from '#sql/connect';
import { beginChange } from '../people/person.ts';
import { removeMemories } from '../people/remove-memories.ts';
import { inScope } from '../people/scope-condition.ts';
import { changesOfPacking, waitForPacking } from '../people/wait-for-packing.ts';
import { withoutText } from './without-text.ts';

type Scope = Parameters<typeof inScope>[1];
/** Adds the audit entry, as the last statement of the last transaction. */
type Note = (sql: TransactionSql) => Promise<void>;
type Deleted = { readonly deleted: number; readonly cancelled: number };

/**
 * Permanently removes the memories of a scope with their history, and cancels the unfinished adds of that scope
 * (memory:delete-by-filter:irreversible). The record of the deletion contains no text. A scope of very many memories is
 * removed in several transactions: after a failure between two of them, repeating the deletion removes the remaining
 * memories.
 */
export async function deleteScope(
  { sql: database }: Database,
  person: string,
  scope: Scope,
  { confirmationId, note }: { readonly confirmationId: string; readonly note: Note },
): Promise<Deleted> {
  for (let deleted = 0, cancelled = 0, isFirst = true; ; isFirst = false) {
    const step = await database.begin(async (sql) => {
      const changeNo = await beginChange(sql, person);
      if (changeNo === undefined) return { cancelled: 0, live: 0, isLast: true };
      const ended = isFirst ? await cancelEvents(sql, person, scope) : 0;
      const { live, isLast } = await removeMemories(sql, { person, changeNo }, scope);
      if (isLast) await packOthers(sql, person);
      await sql`
        insert into memory.deletions as d (confirmation_id, person, deleted_count, cancelled_events)
        values (${confirmationId}, ${person}, ${live}, ${ended})
        on conflict (confirmation_id) do update set deleted_count = d.deleted_count + excluded.deleted_count`;
      if (isLast) await note(sql);
      return { cancelled: ended, live, isLast };
    });
    deleted += step.live;
    cancelled += step.cancelled;
    if (step.isLast) return { deleted, cancelled };
  }
}

/** Ends the open adds of a scope, and removes the data of the client from its ended adds. */
async function cancelEvents(sql: TransactionSql, person: string, scope: Scope): Promise<number> {
  const cancelled = await sql`
    update memory.events set status = 'FAILED', error = 'the memories of this scope were deleted', ${withoutText(sql)},
      attempt = attempt + 1, updated_at = clock_timestamp()
    where person = ${person} and status in ('PENDING', 'RUNNING') and ${inScope(sql, scope)} returning event_id`;
  // Replicas of an earlier version leave the metadata of ended events.
  await sql`
    update memory.events set ${withoutText(sql)}
    where person = ${person} and status in ('SUCCEEDED', 'FAILED') and ${inScope(sql, scope)}
      and (metadata <> '{}' or categories <> '{}')`;
  return cancelled.length;
}

/** The segments of the person are deleted: many memories of other scopes are packed again. */
async function packOthers(sql: TransactionSql, person: string): Promise<void> {
  const [many] = await sql`
    select 1 from memory.memories where person = ${person} and deleted_at is null
    limit 1 offset ${String(changesOfPacking - 1n)}::int`;
  if (many !== undefined) await waitForPacking(sql, person);
}
