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
 * Stores the search entry of an agent, and ends those in other workspaces; only an active agent is found. The workspaces are locked
 * by name, as every change locks them. The caller holds the transaction of the change of the agent.
 * @throws SqlUnavailableError
 */
export async function writeEntry(sql: TransactionSql, agent: AgentContent): Promise<void> {
  const { agent_id: agentId, workspace } = agent;
  const changed = await sql<{ name: string }[]>`
    select workspace as name from (${listedIn(sql, agentId)} union select ${workspace}) as changed order by workspace`;
  for (const { name } of changed) {
    const changeNo = await nextChange(sql, name);
    await (name === workspace ? enterWorkspace(sql, agent, changeNo) : leaveWorkspace(sql, agentId, name, changeNo));
  }
}

/** Ends the entries of an agent in all workspaces. The caller holds the transaction of the change of the agent. */
export async function leaveWorkspaces(sql: TransactionSql, agentId: string): Promise<void> {
  const left = await sql<{ workspace: string }[]>`${listedIn(sql, agentId)} order by workspace`;
  for (const { workspace } of left) await leaveWorkspace(sql, agentId, workspace, await nextChange(sql, workspace));
}

function listedIn(sql: TransactionSql, agentId: string) {
  return sql`select workspace from catalogue.entries where agent_id = ${agentId}::uuid and is_listed`;
}

async function enterWorkspace(sql: TransactionSql, agent: AgentContent, changeNo: string): Promise<void> {
  const passage = passageOf(agent);
  await sql`
    insert into catalogue.entries
      (workspace, agent_id, is_listed, protocol, implementation_type, passage, terms, change_no)
    values (${agent.workspace}, ${agent.agent_id}::uuid, ${agent.state === 'active' && !agent.is_contested}, ${agent.protocol},
      ${agent.implementation_type}, ${passage}, ${analyse(passage).join(' ')}, ${changeNo}::bigint)
    on conflict (workspace, agent_id) do update set
      is_listed = excluded.is_listed, protocol = excluded.protocol,
      implementation_type = excluded.implementation_type, passage = excluded.passage, terms = excluded.terms,
      vector = case when entries.passage = excluded.passage then entries.vector end,
      change_no = excluded.change_no`;
}

async function leaveWorkspace(
  sql: TransactionSql,
  agentId: string,
  workspace: string,
  changeNo: string,
): Promise<void> {
  await sql`
    update catalogue.entries set is_listed = false, change_no = ${changeNo}::bigint
    where workspace = ${workspace} and agent_id = ${agentId}::uuid`;
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
