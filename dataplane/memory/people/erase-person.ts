import type { TenantCaller } from '#identity/tenant-caller';
import type { Database } from '#sql/connect';
import { findPerson, personDigest } from './person.ts';
import { removeMemories } from './remove-memories.ts';

type Erasure = {
  readonly confirmation_id: string;
  readonly memories: number;
  readonly history_entries: number;
  readonly events: number;
  readonly sessions: number;
  readonly erased_at: string;
  /** The number that the person had; undefined if the service stored nothing about the person. */
  readonly person: string | undefined;
};

type Counts = Pick<Erasure, 'memories' | 'history_entries' | 'events' | 'sessions'>;

/**
 * Removes a person with all dependent rows in one transaction, so that an add in progress no longer finds its event.
 * Only a record without text and name remains.
 */
export async function erasePerson(
  { sql: database }: Database,
  caller: TenantCaller,
  confirmationId: string,
): Promise<Erasure> {
  return database.begin(async (sql): Promise<Erasure> => {
    const person = (await findPerson(sql, caller))?.person;
    await sql`select 1 from memory.people where person = ${person ?? '0'} for update`;
    const [counts] = await sql<Counts[]>`
      select
        (select count(*)::int from memory.memories where person = ${person ?? '0'}) as memories,
        (select count(*)::int from memory.history where person = ${person ?? '0'}) as history_entries,
        (select count(*)::int from memory.events where person = ${person ?? '0'}) as events,
        (select count(*)::int from memory.sessions where person = ${person ?? '0'}) as sessions`;
    const { memories, history_entries, events, sessions } = counts as Counts;
    await removeMemories(sql, person ?? '0', { agentId: null, runId: null });
    await sql`delete from memory.people where person = ${person ?? '0'}`;
    const [row] = await sql<{ erased_at: Date }[]>`
      insert into memory.erasures (confirmation_id, tenant, person_digest, memories, history_entries, events, sessions)
      values (${confirmationId}, ${caller.tenant}, ${personDigest(caller)}, ${memories}, ${history_entries}, ${events},
        ${sessions})
      returning erased_at`;
    const erasedAt = (row as { erased_at: Date }).erased_at.toISOString();
    return {
      person,
      confirmation_id: confirmationId,
      memories,
      history_entries,
      events,
      sessions,
      erased_at: erasedAt,
    };
  });
}
