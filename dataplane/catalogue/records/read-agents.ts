import type { AgentLifecycle } from '#contracts/catalogue';
import type { Sql } from '#sql/connect';
import type { AgentContent, ReadAgent } from './agent-content.ts';
import { isCurrent } from './feed-age.ts';

/** Filters of a list; every member that is present must hold. */
export type AgentFilters = {
  readonly workspaceId?: string;
  readonly protocol?: string;
  readonly implementationType?: string;
  readonly state: AgentLifecycle;
  readonly ownerType?: string;
  readonly ownerIssuer?: string;
  readonly ownerSubject?: string;
};

type AgentQuery = {
  readonly filters: AgentFilters;
  /** Only agents with these ids; the ids in `everyone` only with the protocol A2A. Each must be a valid id. */
  readonly among?: { readonly own: readonly string[]; readonly everyone: readonly string[] };
  /** The id after which the page begins; absent for the first page. */
  readonly after: string | undefined;
  readonly limit: number;
};

const stored = [
  'agent_id',
  'resource',
  'name',
  'description',
  'workspace',
  'owner_issuer',
  'owner_subject',
  'state',
  'protocol',
  'implementation_type',
  'version_id',
  'skills',
  'url',
  'is_ready',
  'is_consistent',
  'is_routed',
  'exposure',
  'is_contested',
] as const;

const columns = (sql: Sql) => sql`${sql(stored)}, ${isCurrent(sql)} as is_current`;

/** Agents in the order of their ids. @throws SqlUnavailableError */
export async function readAgents(
  sql: Sql,
  { filters, among, after, limit }: AgentQuery,
): Promise<readonly ReadAgent[]> {
  const { workspaceId, protocol, implementationType, state, ownerIssuer, ownerSubject } = filters;
  return await sql<ReadAgent[]>`
    select ${columns(sql)} from catalogue.agents
    where state = ${state} and not is_contested and agent_id > ${after ?? '00000000-0000-0000-0000-000000000000'}::uuid
      ${among === undefined ? sql`` : isAmong(sql, among)}
      ${workspaceId === undefined ? sql`` : sql`and workspace = ${workspaceId}`}
      ${protocol === undefined ? sql`` : sql`and protocol = ${protocol}`}
      ${implementationType === undefined ? sql`` : sql`and implementation_type = ${implementationType}`}
      ${ownerIssuer === undefined ? sql`` : sql`and owner_issuer = ${ownerIssuer}`}
      ${ownerSubject === undefined ? sql`` : sql`and owner_subject = ${ownerSubject}`}
    order by agent_id limit ${limit}`;
}

/**
 * The database server filters the rows, so that no row of an agent that is hidden from the caller reaches the process.
 */
function isAmong(sql: Sql, { own, everyone }: NonNullable<AgentQuery['among']>) {
  const ids = [...new Set([...own, ...everyone])];
  return sql`and agent_id = any(${sql.array(ids)}::uuid[])
    and (protocol = 'a2a' or agent_id = any(${sql.array([...own])}::uuid[]))`;
}

const idForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether the database accepts the text as an id of an agent: a store of rights may contain other objects. */
export function isId(text: string): boolean {
  return idForm.test(text);
}

/** The agents of these ids that exist, in any state. @throws SqlUnavailableError */
export async function readAgentsById(sql: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, ReadAgent>> {
  const agents = await sql<ReadAgent[]>`
    select ${columns(sql)} from catalogue.agents where agent_id = any(${sql.array([...ids])}::uuid[])`;
  return new Map(agents.map((agent) => [agent.agent_id, agent]));
}

/**
 * The agent of this id if it has one of the protocols and is not degraded. Without a protocol the statement reads no
 * row, so that its cost does not depend on whether the agent exists. @throws SqlUnavailableError
 */
export async function findShownAgent(
  sql: Sql,
  agentId: string,
  protocols: readonly AgentContent['protocol'][],
): Promise<ReadAgent | undefined> {
  const ids = protocols.length === 0 ? [] : [agentId];
  const [agent] = await sql<ReadAgent[]>`
    select ${columns(sql)} from catalogue.agents
    where agent_id = any(${sql.array(ids)}::uuid[]) and protocol = any(${sql.array([...protocols])}::text[])
      and state <> 'degraded'`;
  return agent;
}
