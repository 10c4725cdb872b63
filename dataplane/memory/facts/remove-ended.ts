import type { Database } from '#sql/connect';
import { beginChange } from '../people/person.ts';
import { removeMemory } from './write-memory.ts';

type RemovalPorts = { readonly database: Database; readonly newId: () => string };

/** Rows that one statement removes. */
const batch = 500;
/** Expired memories that one step deletes. */
const memoriesAtOnce = 100;
/** How long an ended event can be read. */
const eventsKept = '30 days';

/** Removes a batch of states of sessions that have expired; true if there may be more. */
export async function removeExpiredSessions({ sql }: Database): Promise<boolean> {
  const rows = await sql`
    delete from memory.sessions where (person, session_id) in (
      select person, session_id from memory.sessions where expires_at <= clock_timestamp()
      order by expires_at limit ${batch} for update skip locked)
    returning 1`;
  return rows.length === batch;
}

/** Removes a batch of events that ended 30 days ago or earlier; true if there may be more. */
export async function removeEndedEvents({ sql }: Database): Promise<boolean> {
  const rows = await sql`
    delete from memory.events where event_id in (
      select event_id from memory.events
      where status in ('SUCCEEDED', 'FAILED') and updated_at < clock_timestamp() - ${eventsKept}::interval
      order by updated_at limit ${batch} for update skip locked)
    returning 1`;
  return rows.length === batch;
}

/**
 * Deletes a batch of expired memories, with an entry in their history; true if there may be more. Reads have already
 * excluded them. A person whose memories cannot be deleted does not stop the deletion of those of others.
 */
export async function removeExpired({ database, newId }: RemovalPorts): Promise<boolean> {
  const rows = await database.sql<{ person: string; memory_id: string }[]>`
    select person, memory_id from memory.memories
    where deleted_at is null and expires_at <= clock_timestamp() order by expires_at limit ${memoriesAtOnce}`;
  const failures: unknown[] = [];
  for (const [person, own] of Map.groupBy(rows, (row) => row.person)) {
    const removed = database.sql.begin(async (sql) => {
      const changeNo = await beginChange(sql, person);
      if (changeNo === undefined) return;
      const change = { sql, person, changeNo, eventId: null, newId };
      for (const { memory_id } of own) await removeMemory(change, memory_id);
    });
    await removed.catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
  return rows.length === memoriesAtOnce;
}
