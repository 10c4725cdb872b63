import type { Sql, TransactionSql } from '#sql/connect';
import { eventTypesOf, recordEvents } from '../events/record-events.ts';
import type { AgentContent } from '../records/agent-content.ts';
import { leaveWorkspaces, writeEntry } from '../search/write-entry.ts';

/**
 * Stores the observed state of an agent; a state that is already stored changes nothing. The caller provides the
 * transaction.
 * @returns whether anything changed
 * @throws SqlUnavailableError
 */
export async function writeAgent(sql: TransactionSql, agent: AgentContent): Promise<boolean> {
  const [before] = await sql<Pick<AgentContent, 'state' | 'version_id'>[]>`
    select state, version_id from catalogue.agents where agent_id = ${agent.agent_id}::uuid for update`;
  const row = { ...agent, skills: sql.json(agent.skills as never) };
  const changed = await sql`
    insert into catalogue.agents ${sql(row)}
    on conflict (agent_id) do update set
      resource = excluded.resource, name = excluded.name, description = excluded.description,
      workspace = excluded.workspace, owner_issuer = excluded.owner_issuer, owner_subject = excluded.owner_subject,
      state = excluded.state, protocol = excluded.protocol, implementation_type = excluded.implementation_type,
      version_id = coalesce(excluded.version_id, agents.version_id), skills = excluded.skills, url = excluded.url,
      is_ready = excluded.is_ready, is_consistent = excluded.is_consistent, is_routed = excluded.is_routed,
      exposure = excluded.exposure, is_contested = excluded.is_contested, updated_at = clock_timestamp()
    where (agents.resource, agents.name, agents.description, agents.workspace, agents.owner_issuer, agents.owner_subject, agents.state,
        agents.protocol, agents.implementation_type, agents.version_id, agents.skills, agents.url, agents.is_ready,
        agents.is_consistent, agents.is_routed, agents.exposure, agents.is_contested)
      is distinct from (excluded.resource, excluded.name, excluded.description, excluded.workspace,
        excluded.owner_issuer, excluded.owner_subject, excluded.state, excluded.protocol, excluded.implementation_type,
        coalesce(excluded.version_id, agents.version_id), excluded.skills, excluded.url, excluded.is_ready,
        excluded.is_consistent, excluded.is_routed, excluded.exposure,
        excluded.is_contested)
    returning 1`;
  if (changed.length === 0) return false;
  await writeEntry(sql, agent);
  const after = { ...agent, version_id: agent.version_id ?? before?.version_id ?? null };
  await recordEvents(sql, after, eventTypesOf(before, after));
  return true;
}

/**
 * Stores a changed agent with its former texts, because the texts of its card are not judged yet. An unknown agent is
 * not stored.
 * @throws SqlUnavailableError
 */
export async function writeWithFormerTexts(sql: TransactionSql, agent: AgentContent): Promise<boolean> {
  const [former] = await sql<CardText[]>`
    select name, description, skills from catalogue.agents where agent_id = ${agent.agent_id}::uuid for update`;
  return former === undefined ? false : await writeAgent(sql, withFormerTexts(agent, former));
}

type CardText = Pick<AgentContent, 'name' | 'description' | 'skills'>;

/** The agent with the stored texts. If no skills are stored, no skill is shown. */
export function withFormerTexts(agent: AgentContent, { name, description, skills }: CardText): AgentContent {
  return { ...agent, name, description, skills: agent.skills.length === 0 ? [] : skills };
}

/** Marks the agent of a resource that was confirmed to be deleted. @throws SqlUnavailableError */
export async function markRemoved(sql: TransactionSql, resource: string): Promise<boolean> {
  const changed = await sql<Pick<AgentContent, 'agent_id' | 'version_id'>[]>`
    update catalogue.agents
    set state = 'removed', is_ready = false, is_consistent = false, is_routed = false, is_contested = false,
      updated_at = clock_timestamp()
    where resource = ${resource} and state <> 'removed' returning agent_id, version_id`;
  for (const agent of changed) {
    await leaveWorkspaces(sql, agent.agent_id);
    await recordEvents(sql, agent, ['agent.removed']);
  }
  return changed.length > 0;
}

/**
 * Hides the interfaces of the agents of these resources in all answers until the agents are stored again, because their
 * removal is not confirmed.
 * @throws SqlUnavailableError
 */
export async function hideInterfaces(sql: Sql, resources: readonly string[]): Promise<void> {
  await sql`
    update catalogue.agents set is_ready = false, updated_at = clock_timestamp()
    where resource = any(${sql.array([...resources])}::text[]) and is_ready`;
}

/**
 * The stored agents have every change until a moment ago, except new texts that are not judged. The first time, every listed agent
 * was stored once, so that answers miss only agents whose texts were never judged. @throws SqlUnavailableError
 */
export async function markCurrent(sql: Sql, agoMs: number): Promise<void> {
  await sql`
    insert into catalogue.feed (is_complete, current_at)
    values (true, clock_timestamp() - make_interval(secs => ${agoMs / 1_000}::float8))
    on conflict (is_complete) do update set current_at = excluded.current_at`;
}

/** @throws SqlUnavailableError */
export async function isFed(sql: Sql): Promise<boolean> {
  const [row] = await sql`select from catalogue.feed`;
  return row !== undefined;
}
