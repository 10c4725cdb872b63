import type { Database } from '#sql/connect';
import { beginChange } from '../people/person.ts';
import { removeMemories } from '../people/remove-memories.ts';
import { inScope } from '../people/scope-condition.ts';
import { changesOfPacking, waitForPacking } from '../people/wait-for-packing.ts';
import { isLive } from './memory-row.ts';
import { withoutText } from './without-text.ts';

type Scope = Parameters<typeof inScope>[1];
type Deleted = { readonly deleted: number; readonly cancelled: number };

/**
 * Permanently removes the memories of a scope with their history, and cancels the unfinished adds of that scope
 * (memory:delete-by-filter:irreversible). The record of the deletion contains no text.
 */
export async function deleteScope(
  { sql: database }: Database,
  person: string,
  scope: Scope,
  confirmationId: string,
): Promise<Deleted> {
  return database.begin(async (sql): Promise<Deleted> => {
    const changeNo = await beginChange(sql, person);
    if (changeNo === undefined) return { deleted: 0, cancelled: 0 };
    const cancelled = await sql`
      update memory.events set status = 'FAILED', error = 'the memories of this scope were deleted', ${withoutText(sql)},
        attempt = attempt + 1, updated_at = clock_timestamp()
      where person = ${person} and status in ('PENDING', 'RUNNING') and ${inScope(sql, scope)} returning event_id`;
    // Replicas of an earlier version leave the metadata of ended events.
    await sql`
      update memory.events set ${withoutText(sql)}
      where person = ${person} and status in ('SUCCEEDED', 'FAILED') and ${inScope(sql, scope)}
        and (metadata <> '{}' or categories <> '{}')`;
    const live = await sql`
      select 1 from memory.memories m where m.person = ${person} and ${isLive(sql)} and ${inScope(sql, scope)}`;
    await removeMemories(sql, person, scope);
    // Followers cannot read removed rows: they load the memories of this person again.
    await sql`update memory.people set forgotten_through = ${changeNo}, packed_through = 0 where person = ${person}`;
    await sql`delete from memory.segments where person = ${person}`;
    const [many] = await sql`
      select 1 from memory.memories where person = ${person} having count(*) >= ${String(changesOfPacking)}::int`;
    if (many !== undefined) await waitForPacking(sql, person);
    const counts = { deleted: live.length, cancelled: cancelled.length };
    await sql`
      insert into memory.deletions (confirmation_id, person, deleted_count, cancelled_events)
      values (${confirmationId}, ${person}, ${counts.deleted}, ${counts.cancelled})`;
    return counts;
  });
}
