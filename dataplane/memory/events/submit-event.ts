import { type AddMemories, memoryLimits } from '#contracts/memory';
import type { TenantCaller } from '#identity/tenant-caller';
import type { Database, TransactionSql } from '#sql/connect';
import { type IndexRoom, readIndexBytes } from '../people/index-room.ts';
import type { MemoryQuota, QuotaName } from '../people/memory-quota.ts';
import { lockPersonOf } from '../people/person.ts';

type EventSubmission = {
  readonly eventId: string;
  readonly caller: TenantCaller;
  readonly body: AddMemories;
  /** The Idempotency-Key; undefined if the client sent none. */
  readonly key: string | undefined;
  readonly digest: string;
  readonly traceId: string;
  readonly room: IndexRoom;
  readonly quota: MemoryQuota;
};

type Submitted =
  | { readonly kind: 'accepted'; readonly eventId: string }
  /** The key was used with another body. */
  | { readonly kind: 'conflict' }
  /** The quota is reached, and nothing was stored. */
  | { readonly kind: 'quota'; readonly quota: QuotaName };

/**
 * Registers an add in the order of its person. A repeated key with the same body returns the event of the first
 * request.
 */
export async function submitEvent({ sql: database }: Database, submission: EventSubmission): Promise<Submitted> {
  const { eventId, caller, body, key, digest, traceId, room, quota } = submission;
  return database.begin(async (sql): Promise<Submitted> => {
    const person = await lockPersonOf(sql, caller, quota);
    if (person === undefined) return { kind: 'quota', quota: 'tenant_users' };
    if (key !== undefined) {
      const [known] = await sql<{ event_id: string; digest: string }[]>`
        select event_id, digest from memory.events where person = ${person} and idempotency_key = ${key}`;
      if (known !== undefined) {
        return known.digest === digest ? { kind: 'accepted', eventId: known.event_id } : { kind: 'conflict' };
      }
    }
    const [open] = await sql<{ count: number }[]>`
      select count(*)::int as count from memory.events where person = ${person} and status in ('PENDING', 'RUNNING')`;
    if ((open?.count ?? 0) >= memoryLimits.openEvents) return { kind: 'quota', quota: 'user_open_events' };
    if ((await readIndexBytes(sql, person, room)) >= room.mostBytes) return { kind: 'quota', quota: 'user_index' };
    const [others] = await sql<{ count: number }[]>`
      select count(*)::int as count from (
        select from memory.events where tenant = ${caller.tenant} and status in ('PENDING', 'RUNNING')
        limit ${quota.tenantOpenEvents}) e`;
    if ((others?.count ?? 0) >= quota.tenantOpenEvents) return { kind: 'quota', quota: 'tenant_open_events' };
    await sql`
      insert into memory.events (event_id, person, tenant, agent_id, run_id, infer, metadata, categories, expires_at, messages,
        idempotency_key, digest, trace_id, turn)
      values (${eventId}, ${person}, ${caller.tenant}, ${body.agent_id ?? null}, ${body.run_id ?? null}, ${body.infer},
        ${JSON.stringify(body.metadata ?? {})}::text::jsonb, ${sql.array([...(body.categories ?? [])])}::text[],
        ${body.expires_at === undefined ? null : new Date(body.expires_at)}::timestamptz, ${JSON.stringify(body.messages)}::text::jsonb, ${key ?? null}, ${digest},
        ${traceId}, ${turnOf(sql, person, caller.tenant)})`;
    return { kind: 'accepted', eventId };
  });
}

/**
 * The turn of a new event: one after the turn of the person's last open event, and not before the turn of any open
 * event of the tenant, so that persons with many and with few events take turns.
 */
function turnOf(sql: TransactionSql, person: string, tenant: string) {
  return sql`greatest(
    coalesce((
      select e.turn + 1 from memory.events e
      where e.person = ${person} and e.status in ('PENDING', 'RUNNING') order by e.seq desc limit 1), 0),
    coalesce((
      select e.turn from memory.events e
      where e.tenant = ${tenant} and e.status in ('PENDING', 'RUNNING') order by e.turn limit 1), 0))`;
}
