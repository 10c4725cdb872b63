import type { MemoryMessage } from '#contracts/memory';
import type { Sql } from '#sql/connect';
import { withoutText } from '../facts/without-text.ts';
import type { StoredDecision } from './event-row.ts';

/** An event that this worker may process until another claim follows. */
export type ClaimedEvent = {
  readonly eventId: string;
  /** Number of the claim. Every write names it and is refused after a later claim. */
  readonly attempt: number;
  /** How many claims, including this one, ended without a record or with an unreadable answer of a model. */
  readonly deliveries: number;
  readonly person: string;
  readonly agentId: string | null;
  readonly runId: string | null;
  readonly infer: boolean;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly categories: readonly string[];
  readonly expiresAt: Date | null;
  readonly messages: readonly MemoryMessage[];
  readonly createdAt: Date;
  /** Trace of the request that added the event. */
  readonly traceId: string;
};

/** Number of claims without a record after which an event fails instead of being claimed again. */
export const mostClaims = 5;
/**
 * How long a dependency may be unavailable before an event fails, and the pause between two attempts during that time.
 */
const patience = '24 hours';
const pause = '5 seconds';

/**
 * Number of due events of a tenant among which the first claim chooses; with more, the database would compare all of
 * them.
 */
const firstLook = 64;
const mostEvents = 1_000_000;
/**
 * How many events of one tenant, and of all tenants, one claim may choose from: more than workers usually claim at one
 * moment.
 */
const ofTenant = 16;
const ofAll = 64;

/**
 * Claims a due event that is the oldest open event of its person, so that the adds of a person take effect in their
 * order. The tenant with the fewest events in progress is preferred; among equal tenants one is chosen at random, so
 * that each tenant is claimed after a few events. Within the tenant, the person whose turn it is comes first. So the
 * queue of one tenant or person does not delay the others. Leases are measured by the clock of the database.
 */
export async function claimEvent(sql: Sql, leaseMs: number): Promise<ClaimedEvent | undefined> {
  const first = await claimAmong(sql, leaseMs, firstLook);
  // All of the first events may be later events of persons whose oldest event is already claimed.
  return first ?? (await claimAmong(sql, leaseMs, mostEvents));
}

async function claimAmong(sql: Sql, leaseMs: number, most: number): Promise<ClaimedEvent | undefined> {
  const isOpen = sql`e.status in ('PENDING', 'RUNNING')`;
  const isDue = sql`${isOpen} and e.due_at <= statement_timestamp() and e.deliveries < ${mostClaims}`;
  // The tenants with open events are read with one index lookup per tenant, whatever the number of their events.
  const [row] = await sql<ClaimedEvent[]>`
    with recursive tenants (tenant) as (
      (select e.tenant from memory.events e where ${isOpen} order by e.tenant limit 1)
      union all
      select (select e.tenant from memory.events e where ${isOpen} and e.tenant > t.tenant order by e.tenant limit 1)
      from tenants t where t.tenant is not null),
    drawn as materialized (select tenant, random() as draw from tenants where tenant is not null),
    leased as materialized (
      select tenant, count(*) as events from memory.events
      where status = 'RUNNING' and due_at > statement_timestamp() group by tenant),
    first as materialized (
      select o.event_id, o.turn, o.due_at, o.seq, t.draw, coalesce(l.events, 0) as leased
      from drawn t left join leased l using (tenant) cross join lateral (
        select due.event_id, due.turn, due.due_at, due.seq
        from (
          select e.event_id, e.person, e.turn, e.due_at, e.seq from memory.events e
          where e.tenant = t.tenant and ${isDue} order by e.turn, e.due_at, e.seq limit ${most}) due
        where not exists (
          select from memory.events e where e.person = due.person and e.seq < due.seq and ${isOpen})
        order by due.turn, due.due_at, due.seq limit ${ofTenant}) o
      order by leased, t.draw, o.turn, o.due_at, o.seq limit ${ofAll})
    update memory.events set status = 'RUNNING', attempt = attempt + 1, deliveries = deliveries + 1,
      due_at = clock_timestamp() + ${leaseMs} * interval '1 millisecond', updated_at = clock_timestamp()
    where event_id = (
      select e.event_id from first f join memory.events e using (event_id) where ${isDue}
      order by f.leased, f.draw, f.turn, f.due_at, f.seq for update of e skip locked limit 1)
    returning event_id as "eventId", attempt, deliveries, person, agent_id as "agentId", run_id as "runId", infer, metadata, categories,
      expires_at as "expiresAt", messages, created_at as "createdAt", trace_id as "traceId"`;
  return row;
}

type Claim = Pick<ClaimedEvent, 'eventId' | 'attempt'>;

/** Extends the lease of a claim; false if the claim has ended. */
export async function renewEventLease(sql: Sql, { eventId, attempt }: Claim, leaseMs: number): Promise<boolean> {
  const rows = await sql`
    update memory.events set due_at = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
    where event_id = ${eventId} and attempt = ${attempt} and status = 'RUNNING' returning event_id`;
  return rows.length > 0;
}

/** Ends an event as FAILED; its text is removed. */
export async function failEvent(
  sql: Sql,
  { eventId, attempt }: Claim,
  error: string,
  decisions: readonly StoredDecision[] = [],
): Promise<void> {
  await sql`
    update memory.events set status = 'FAILED', error = ${error}, ${withoutText(sql)}, updated_at = clock_timestamp(),
      decisions = ${JSON.stringify(decisions)}::text::jsonb
    where event_id = ${eventId} and attempt = ${attempt} and status = 'RUNNING'`;
}

/**
 * Releases an event because a dependency was unavailable; it fails after 24 hours.
 * @param isCounted whether the claim counts among those after which an event fails
 * @returns whether it failed
 */
export async function releaseEvent(
  sql: Sql,
  { eventId, attempt }: Claim,
  dependency: string,
  isCounted: boolean,
): Promise<boolean> {
  const [row] = await sql<{ status: string }[]>`
    with held as (
      select event_id, coalesce(unavailable_since, clock_timestamp()) < clock_timestamp() - ${patience}::interval as is_over
      from memory.events where event_id = ${eventId} and attempt = ${attempt} and status = 'RUNNING' for update)
    update memory.events e set
      status = case when is_over then 'FAILED' else 'RUNNING' end,
      messages = case when is_over then null else messages end,
      metadata = case when is_over then '{}' else metadata end,
      categories = case when is_over then '{}' else categories end,
      error = ${`${dependency} was not available`}, unavailable_since = coalesce(unavailable_since, clock_timestamp()),
      deliveries = greatest(deliveries - ${isCounted ? 0 : 1}::int, 0), due_at = clock_timestamp() + ${pause}::interval,
      updated_at = clock_timestamp()
    from held where e.event_id = held.event_id returning e.status`;
  return row?.status === 'FAILED';
}

/** Releases an event immediately, because its worker shuts down. */
export async function returnEvent(sql: Sql, { eventId, attempt }: Claim): Promise<void> {
  await sql`
    update memory.events set deliveries = greatest(deliveries - 1, 0), due_at = clock_timestamp()
    where event_id = ${eventId} and attempt = ${attempt} and status = 'RUNNING'`;
}

/** Schedules another attempt for an event that failed for an unknown reason; the delivery counts. */
export async function abandonEvent(sql: Sql, { eventId, attempt }: Claim): Promise<void> {
  await sql`
    update memory.events set due_at = clock_timestamp() + ${pause}::interval, updated_at = clock_timestamp()
    where event_id = ${eventId} and attempt = ${attempt} and status = 'RUNNING'`;
}

/** Fails events whose workers died as often as allowed. Returns their number. */
export async function failUndelivered(sql: Sql): Promise<number> {
  const rows = await sql`
    update memory.events set status = 'FAILED', ${withoutText(sql)}, updated_at = clock_timestamp(),
      error = ${`the worker ended ${mostClaims} times without a result`}
    where status in ('PENDING', 'RUNNING') and deliveries >= ${mostClaims} and due_at <= clock_timestamp()
    returning event_id`;
  return rows.length;
}
