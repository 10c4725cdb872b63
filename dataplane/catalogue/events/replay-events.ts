import type { Sql } from '#sql/connect';

/** The position at which a replay begins: at a number of the events of one agent, or at a moment for all agents. */
export type ReplayPosition =
  | { readonly kind: 'agent'; readonly agentId: string; readonly sequence: bigint }
  | { readonly kind: 'moment'; readonly since: Date };

/**
 * Opens ended events again from a position on, so that the relay sends them once more, with their original ids, in the
 * order of each agent. All events of an agent after its first reopened event are sent, so that a receiver never sees a
 * gap; an event in delivery is sent again in its place in the order.
 * @returns the number of events that will be sent from that position
 * @throws SqlUnavailableError
 */
export async function replayEvents(sql: Sql, position: ReplayPosition): Promise<number> {
  const from =
    position.kind === 'agent'
      ? sql`select ${position.agentId}::uuid as agent_id, ${position.sequence.toString()}::bigint as event_no`
      : sql`select agent_id, min(event_no) as event_no from catalogue.outbox
          where occurred_at >= ${position.since.toISOString()}::timestamptz group by agent_id`;
  const opened = await sql`
    update catalogue.outbox set delivered_at = null, parked_at = null, attempts = 0, refusals = 0, replays = replays + 1,
      next_attempt_at = clock_timestamp(),
      open_since = case when coalesce(delivered_at, parked_at) is null then open_since else clock_timestamp() end
    from (${from}) as start
    where outbox.agent_id = start.agent_id and outbox.event_no >= start.event_no
    returning 1`;
  return opened.length;
}
