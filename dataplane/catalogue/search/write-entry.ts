import { analyse } from '#search/analysis/analyse';
import type { TransactionSql } from '#sql/connect';
import type { AgentContent } from '../records/agent-content.ts';

/** The searched text of an agent: its safe texts, each on a line. */
function passageOf({ name, description, skills }: AgentContent): string {
  const parts = skills.flatMap((skill) => [
    skill.name,
    skill.description,
    skill.tags.join(' '),
    ...(skill.examples ?? []),
  ]);
  return [...new Set([name, description, ...parts])].filter((text) => text !== '').join('\n');
}

/**
 * Stores the search entry of an agent; only an active one is found. The caller holds the transaction of the change of
 * the agent.
 * @throws SqlUnavailableError
 */
export async function writeEntry(sql: TransactionSql, agent: AgentContent): Promise<void> {
  const { agent_id: agentId, workspace } = agent;
  await leaveWorkspaces(sql, agentId, workspace);
  const passage = passageOf(agent);
  const changeNo = await nextChange(sql, workspace);
  await sql`
    insert into catalogue.entries
      (workspace, agent_id, is_listed, protocol, implementation_type, passage, terms, change_no)
    values (${workspace}, ${agentId}::uuid, ${agent.state === 'active' && !agent.is_contested}, ${agent.protocol},
      ${agent.implementation_type}, ${passage}, ${analyse(passage).join(' ')}, ${changeNo}::bigint)
    on conflict (workspace, agent_id) do update set
      is_listed = excluded.is_listed, protocol = excluded.protocol,
      implementation_type = excluded.implementation_type, passage = excluded.passage, terms = excluded.terms,
      vector = case when entries.passage = excluded.passage then entries.vector end,
      change_no = excluded.change_no`;
}

/** Ends the entries of an agent in other workspaces than this one; in all of them without one. */
export async function leaveWorkspaces(sql: TransactionSql, agentId: string, workspace?: string): Promise<void> {
  const left = await sql<{ workspace: string }[]>`
    select workspace from catalogue.entries
    where agent_id = ${agentId}::uuid and is_listed and workspace is distinct from ${workspace ?? null}::text
    order by workspace`;
  for (const { workspace: former } of left) {
    const changeNo = await nextChange(sql, former);
    await sql`
      update catalogue.entries set is_listed = false, change_no = ${changeNo}::bigint
      where workspace = ${former} and agent_id = ${agentId}::uuid`;
  }
}

/** The number of a change of a workspace, whose row stays locked until the end of the transaction. */
export async function nextChange(sql: TransactionSql, workspace: string): Promise<string> {
  const [row] = await sql<{ change_no: string }[]>`
    insert into catalogue.workspaces (workspace, change_no) values (${workspace}, 1)
    on conflict (workspace) do update set change_no = workspaces.change_no + 1
    returning change_no`;
  if (row === undefined) throw new TypeError('an upsert returned no row');
  return row.change_no;
}
