import type { EmbeddingProfile } from '#models/ports';
import { vectorsKey } from '#models/vectors-key';
import type { IndexEntry, PartitionSource } from '#search/ports';
import { readPartitions } from '#search/read-partitions';
import { vectorOfBase64 } from '#search/vector-text';
import type { Database, Sql } from '#sql/connect';

const pageSize = 1_000;
const groupsAtOnce = 200;

type EntryRow = {
  readonly agent_id: string;
  readonly protocol: 'a2a' | 'mcp';
  readonly implementation_type: string;
  readonly terms: string;
  readonly change_no: string;
  /** Base64; empty without a vector of the profile of the partition. */
  readonly vector: string;
};

/** The label of an agent that the caller reaches over A2A only, because every caller has that right. */
export function labelOverA2a(agentId: string): string {
  return `a2a/${agentId}`;
}

/** The id of the agent of a candidate. */
export function agentOfEntry(id: string): string {
  return id.slice(0, id.indexOf('/'));
}

/**
 * The partition of the index with the agents of a workspace and their vectors of a profile; without a profile, the
 * partition without vectors.
 */
export function partitionOf(workspace: string, profile: EmbeddingProfile | undefined): string {
  return `${profile === undefined ? '' : vectorsKey(profile)}/${workspace}`;
}

/** The key of the vectors is empty or has no "/". */
function partsOf(partition: string): { readonly key: string; readonly workspace: string } {
  const end = partition.indexOf('/');
  return { key: partition.slice(0, end), workspace: partition.slice(end + 1) };
}

/**
 * The active agents of a workspace, from which the index is built and which it follows. The labels of an entry are
 * those of its agent, so that a search ranks only the agents that its caller may invoke. When a profile gets another
 * model or dimension, the workspace gets another partition: a partition never has vectors of two models.
 */
export function agentSource({ sql }: Pick<Database, 'sql'>): PartitionSource {
  return readPartitions<string>(
    {
      async numbers(partition) {
        const { workspace } = partsOf(partition);
        const [row] = await sql<{ change_no: string; forgotten_through: string }[]>`
          select change_no, forgotten_through from catalogue.workspaces where workspace = ${workspace}`;
        return row && { newest: BigInt(row.change_no), forgottenThrough: BigInt(row.forgotten_through) };
      },
      async page(partition, after, size) {
        const { key, workspace } = partsOf(partition);
        const rows = await sql<EntryRow[]>`
          select ${columns(sql, key)} from catalogue.entries
          where workspace = ${workspace} and is_listed
            and agent_id > ${after ?? '00000000-0000-0000-0000-000000000000'}::uuid
          order by agent_id limit ${size}`;
        return { entries: rows.map(entryOf), next: rows.length < size ? undefined : rows.at(-1)?.agent_id };
      },
      async changedGroups(partition, after, size) {
        const { workspace } = partsOf(partition);
        const rows = await sql<{ agent_id: string; change_no: string }[]>`
          select agent_id, change_no from catalogue.entries
          where workspace = ${workspace} and change_no > ${String(after)}::bigint
          order by change_no fetch first ${size} rows with ties`;
        const groups = rows.map(({ agent_id, change_no }) => ({ group: agent_id, changeNo: BigInt(change_no) }));
        return { groups, more: groups.length >= size };
      },
      async *entriesOf(partition, groups) {
        const { key, workspace } = partsOf(partition);
        const rows = await sql<EntryRow[]>`
          select ${columns(sql, key)} from catalogue.entries
          where workspace = ${workspace} and is_listed and agent_id = any(${sql.array([...groups])}::uuid[])`;
        yield rows.map(entryOf);
      },
    },
    { pageSize, groupsAtOnce },
  );
}

/** The number of the newest change of a workspace; undefined without an agent. @throws SqlUnavailableError */
export async function newestChange(sql: Sql, workspace: string): Promise<bigint | undefined> {
  const [row] = await sql<{ change_no: string }[]>`
    select change_no from catalogue.workspaces where workspace = ${workspace}`;
  return row === undefined ? undefined : BigInt(row.change_no);
}

function columns(sql: Sql, key: string) {
  return sql`agent_id, protocol, implementation_type, terms, change_no,
    coalesce(encode(case when profile_id = ${key} then vector end, 'base64'), '') as vector`;
}

function entryOf(row: EntryRow): IndexEntry {
  const { agent_id: id, protocol, implementation_type: implementationType, terms, change_no: changeNo, vector } = row;
  return {
    id: `${id}/${changeNo}`,
    group: id,
    labels: protocol === 'a2a' ? [id, labelOverA2a(id)] : [id],
    attributes: { protocol, implementationType },
    terms: terms === '' ? [] : terms.split(' '),
    ...(vector === '' ? {} : { vector: vectorOfBase64(vector) }),
  };
}
