import { v7 as uuid } from 'uuid';
import type { AgentLifecycle } from '#contracts/catalogue';
import type { TransactionSql } from '#sql/connect';

/** The events of the catalogue about an agent (`catalogue:events:outbox-relay`). */
type CatalogueEventType =
  | 'agent.activated'
  | 'agent.degraded'
  | 'agent.removed'
  | 'agent.rejected'
  | 'agent.version.selected';

/** The part of an agent whose changes are events; undefined before the agent was known. */
type EventState = { readonly state: AgentLifecycle; readonly version_id: string | null } | undefined;

const typeOfState: Readonly<Record<AgentLifecycle, CatalogueEventType>> = {
  active: 'agent.activated',
  degraded: 'agent.degraded',
  removed: 'agent.removed',
  rejected: 'agent.rejected',
};

/** The events of a change, in their order: the version is known before the agent is active with it. */
export function eventTypesOf(before: EventState, after: NonNullable<EventState>): readonly CatalogueEventType[] {
  const isSelected = after.version_id !== null && after.version_id !== before?.version_id;
  const isOther = after.state !== before?.state;
  return [...(isSelected ? (['agent.version.selected'] as const) : []), ...(isOther ? [typeOfState[after.state]] : [])];
}

/**
 * Writes the events of a change. The caller has changed the row of the agent in this transaction, and therefore holds
 * its lock. The number of the first event is greater than the numbers of forgotten agents, because one of them may have
 * had the same id.
 */
export async function recordEvents(
  sql: TransactionSql,
  agent: { readonly agent_id: string; readonly version_id: string | null },
  types: readonly CatalogueEventType[],
): Promise<void> {
  for (const type of types) {
    await sql`
      with numbered as (
        update catalogue.agents
        set event_no = 1 + case event_no when 0 then (select f.event_no from catalogue.forgotten f) else event_no end
        where agent_id = ${agent.agent_id}::uuid
        returning agent_id, event_no
      )
      insert into catalogue.outbox (event_id, agent_id, event_no, type, version_id)
      select ${uuid()}::uuid, agent_id, event_no, ${type}, ${agent.version_id} from numbered`;
  }
}
