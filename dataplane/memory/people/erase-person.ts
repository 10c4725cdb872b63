import type { TenantCaller } from '#identity/tenant-caller';
import type { Database, TransactionSql } from '#sql/connect';
import { beginChange, findPerson, personDigest } from './person.ts';
import { mostRemoved, removeMemories } from './remove-memories.ts';

type Erasure = {
  readonly confirmation_id: string;
  readonly memories: number;
  readonly history_entries: number;
  readonly events: number;
  readonly sessions: number;
  readonly erased_at: string;
  /** The former number of the person; undefined if the service stored nothing about the person. */
  readonly person: string | undefined;
};

/** The remains of an erasure: a record, and an audit entry, which `note` adds as the last statement of the last transaction. */
type Left = { readonly confirmationId: string; readonly note: (sql: TransactionSql) => Promise<void> };

type Counts = Pick<Erasure, 'memories' | 'history_entries' | 'events' | 'sessions'>;

/**
 * Removes a person with all dependent rows, so that an add in progress no longer finds its event. Only a record without
 * text and name remains. A person with very many rows is removed in several transactions, events first: after a failure
 * between two of them, repeating the erasure removes the remaining rows, and its record counts only these.
 */
export async function erasePerson({ sql: database }: Database, caller: TenantCaller, left: Left): Promise<Erasure> {
  for (let before: Counts = { memories: 0, history_entries: 0, events: 0, sessions: 0 }; ; ) {
    const step = await database.begin((sql) => eraseMore(sql, caller, { left, before }));
    if ('confirmation_id' in step) return step;
    before = step;
  }
}

/** Removes as many rows as one transaction may remove; returns the counts so far, or the record after the last rows. */
async function eraseMore(
  sql: TransactionSql,
  caller: TenantCaller,
  { left, before }: { readonly left: Left; readonly before: Counts },
): Promise<Counts | Erasure> {
  const person = (await findPerson(sql, caller))?.person;
  const changeNo = person === undefined ? undefined : await beginChange(sql, person);
  // Without a number the person was already removed by another erasure.
  if (person === undefined || changeNo === undefined) return writeRecord(sql, caller, { left, counts: before });
  const events = await removeEvents(sql, person);
  const counts = { ...before, events: before.events + events };
  if (events >= mostRemoved.events) return counts;
  const removed = await removeMemories(sql, { person, changeNo }, { agentId: null, runId: null });
  counts.memories += removed.memories;
  counts.history_entries += removed.history;
  if (!removed.isLast) return counts;
  const sessions = await sql`delete from memory.sessions where person = ${person} returning 1`;
  counts.sessions += sessions.length;
  await sql`delete from memory.people where person = ${person}`;
  return { ...(await writeRecord(sql, caller, { left, counts })), person };
}

/** Removes open events first: their messages are text, and no worker shall continue them. */
async function removeEvents(sql: TransactionSql, person: string): Promise<number> {
  const open = await sql`
    delete from memory.events where person = ${person} and status in ('PENDING', 'RUNNING') returning 1`;
  const ended = await sql`
    delete from memory.events where event_id in (
      select event_id from memory.events where person = ${person} limit ${mostRemoved.events})
    returning 1`;
  return open.length + ended.length;
}

async function writeRecord(
  sql: TransactionSql,
  caller: TenantCaller,
  { left, counts }: { readonly left: Left; readonly counts: Counts },
): Promise<Erasure> {
  const { confirmationId, note } = left;
  const { memories, history_entries, events, sessions } = counts;
  const [row] = await sql<{ erased_at: Date }[]>`
    insert into memory.erasures (confirmation_id, tenant, person_digest, memories, history_entries, events, sessions)
    values (${confirmationId}, ${caller.tenant}, ${personDigest(caller)}, ${memories}, ${history_entries}, ${events},
      ${sessions})
    returning erased_at`;
  await note(sql);
  const erasedAt = (row as { erased_at: Date }).erased_at.toISOString();
  return { person: undefined, confirmation_id: confirmationId, ...counts, erased_at: erasedAt };
}
