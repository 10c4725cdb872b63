import { memoryLimits } from '#contracts/memory';
import type { TenantCaller } from '#identity/tenant-caller';
import type { Database } from '#sql/connect';
import type { MemoryQuota, QuotaName } from '../people/memory-quota.ts';
import { lockPersonOf } from '../people/person.ts';

/** The state of a session, with the remaining seconds by the clock of the database. */
export type SessionRow = {
  readonly session_id: string;
  readonly state: Readonly<Record<string, unknown>>;
  readonly updated_at: Date;
  readonly remaining: number;
};

/** Replaces the state of a session (memory:session:set), or names the quota that is reached. */
export async function setSession(
  { sql: database }: Database,
  caller: TenantCaller,
  session: { readonly sessionId: string; readonly state: object; readonly ttlSeconds: number },
  quota: MemoryQuota,
): Promise<SessionRow | QuotaName> {
  const { sessionId, state, ttlSeconds } = session;
  return database.begin(async (sql) => {
    const person = await lockPersonOf(sql, caller, quota);
    if (person === undefined) return 'tenant_users';
    const [others] = await sql<{ count: number }[]>`
      select count(*)::int as count from memory.sessions
      where person = ${person} and session_id <> ${sessionId} and expires_at > clock_timestamp()`;
    if ((others?.count ?? 0) >= memoryLimits.sessions) return 'user_sessions';
    const [row] = await sql<SessionRow[]>`
      insert into memory.sessions (person, session_id, state, expires_at, updated_at)
      values (${person}, ${sessionId}, ${JSON.stringify(state)}::text::jsonb,
        clock_timestamp() + ${ttlSeconds} * interval '1 second', clock_timestamp())
      on conflict (person, session_id) do update set state = excluded.state, expires_at = excluded.expires_at,
        updated_at = excluded.updated_at
      returning session_id, state, updated_at,
        ceil(extract(epoch from expires_at - clock_timestamp()))::int as remaining`;
    return row as SessionRow;
  });
}

/** The state of a session that has not expired (memory:session:get, memory:session:ttl). */
export async function getSession(
  { sql }: Database,
  person: string,
  sessionId: string,
): Promise<SessionRow | undefined> {
  const [row] = await sql<SessionRow[]>`
    select session_id, state, updated_at, ceil(extract(epoch from expires_at - clock_timestamp()))::int as remaining
    from memory.sessions
    where person = ${person} and session_id = ${sessionId} and expires_at > clock_timestamp()`;
  return row;
}
