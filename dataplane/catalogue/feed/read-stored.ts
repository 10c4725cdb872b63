import { isDeepStrictEqual } from 'node:util';
import type { Sql } from '#sql/connect';
import type { AgentContent } from '../records/agent-content.ts';

/** The stored agents with these ids, by their ids. @throws SqlUnavailableError */
export async function readStored(sql: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, AgentContent>> {
  if (ids.length === 0) return new Map();
  const rows = await sql<AgentContent[]>`
    select agent_id, resource, name, description, workspace, owner_issuer, owner_subject, state, protocol,
      implementation_type, version_id, skills, url, is_ready, is_consistent, is_routed, exposure, is_contested
    from catalogue.agents where agent_id = any(${sql.array([...ids])}::uuid[])`;
  return new Map(rows.map((row) => [row.agent_id, row]));
}

/** Whether `writeAgent` would change nothing. An agent without a version keeps the stored version. */
export function isStored(stored: AgentContent, agent: AgentContent): boolean {
  const skills = JSON.parse(JSON.stringify(agent.skills));
  return isDeepStrictEqual({ ...stored }, { ...agent, version_id: agent.version_id ?? stored.version_id, skills });
}
