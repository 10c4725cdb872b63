import type { Database } from '#sql/connect';
import { beginChange } from '../people/person.ts';
import { removeExpiredMemory } from './write-memory.ts';

type RemovalPorts = { readonly database: Database; readonly newId: () => string };

/** Maximum number of rows that one statement removes. */
const batch = 500;
/** Maximum number of expired memories that one statement reads. */
const memoriesAtOnce = 100;
/** Persons whose memories cannot be deleted, after which a call ends. */
const mostLeftOut = 1_000;
/** How long an ended event can still be read. */
const eventsKept = '30 days';

/** Removes a batch of session states that have expired; true if there may be more. */
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
 * Deletes all expired memories, with an entry in their history. Reads already exclude expired memories. A person whose
 * memories cannot be deleted is skipped until the next call, so that the memories of all others are deleted.
 * @param onFailed called for each person whose memories cannot be deleted
 * @throws SqlUnavailableError if the expired memories cannot be read
 */
export async function removeExpired(
  { database, newId }: RemovalPorts,
  { onFailed, signal }: { readonly onFailed: (error: unknown) => void; readonly signal: AbortSignal },
): Promise<void> {
  const leftOut: string[] = [];
  while (!signal.aborted && leftOut.length < mostLeftOut) {
    const rows = await database.sql<{ person: string; memory_id: string }[]>`
      select person, memory_id from memory.memories
      where deleted_at is null and expires_at <= clock_timestamp()
        and person <> all(${database.sql.array(leftOut)}::bigint[])
      order by expires_at limit ${memoriesAtOnce}`;
    for (const [person, own] of Map.groupBy(rows, (row) => row.person)) {
      const removed = database.sql.begin(async (sql) => {
        const changeNo = await beginChange(sql, person);
        if (changeNo === undefined) return void leftOut.push(person);
        const change = { sql, person, changeNo, eventId: null, newId };
        for (const { memory_id } of own) await removeExpiredMemory(change, memory_id);
      });
      await removed.catch((error: unknown) => {
        leftOut.push(person);
        onFailed(error);
      });
    }
    if (rows.length < memoriesAtOnce) return;
  }
}
