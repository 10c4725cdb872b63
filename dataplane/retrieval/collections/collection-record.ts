import type { Collection, RetrievalMode } from '#contracts/retrieval';
import { retrievalLimits } from '#contracts/retrieval';
import type { Sql, TransactionSql } from '#sql/connect';

/** A collection that is not deleted, read from its row and the row of its newest version. */
export type CollectionRecord = {
  readonly collectionId: string;
  readonly tenant: string;
  readonly name: string;
  readonly description: string;
  readonly collectionType: Collection['collection_type'];
  readonly parentId: string | null;
  readonly visibility: Collection['visibility'];
  readonly aclModel: Collection['acl_model'];
  readonly emptyAclPolicy: Collection['empty_acl_policy'];
  readonly chunkSize: number;
  readonly chunkOverlap: number;
  readonly retrievalDefaults: {
    readonly mode?: RetrievalMode;
    readonly top_k?: number;
    readonly rerank_profile_id?: string;
  };
  readonly embeddingProfileId: string;
  readonly status: Collection['status'];
  readonly activeVersion: number;
  /** Number of the newest committed change; a query reflects it. */
  readonly changeNo: string;
  readonly docCount: number;
  readonly chunkCount: number;
  /** Bytes of the stored text and metadata of the live documents. */
  readonly textBytes: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly reindex: Collection['reindex'] | null;
  /** The UID of the resource that manages it; null for a collection that was created over HTTP. */
  readonly managedBy: string | null;
  /** Whether that resource also declares the place of the collection. */
  readonly parentManaged: boolean;
};

function columns(sql: Sql | TransactionSql) {
  return sql`
    c.collection_id as "collectionId", c.tenant, c.name, c.description, c.collection_type as "collectionType",
    c.parent_id as "parentId", c.visibility, c.acl_model as "aclModel", c.empty_acl_policy as "emptyAclPolicy",
    c.chunk_size as "chunkSize", c.chunk_overlap as "chunkOverlap", c.retrieval_defaults as "retrievalDefaults",
    c.embedding_profile_id as "embeddingProfileId", c.status, c.active_version as "activeVersion",
    c.change_no as "changeNo", c.doc_count as "docCount", c.chunk_count as "chunkCount", c.text_bytes::float8 as "textBytes",
    c.created_at as "createdAt", c.updated_at as "updatedAt",
    c.managed_by as "managedBy", c.parent_managed as "parentManaged", (select json_build_object('version', v.number, 'embedding_profile_id', v.embedding_profile_id, 'state', v.state,
        'documents_total', v.documents_total, 'documents_done', least(v.documents_done, v.documents_total),
        'failure', v.failure)
      from retrieval.index_versions v
      where v.collection_id = c.collection_id and v.state in ('building', 'failed') and v.number = (
        select max(n.number) from retrieval.index_versions n where n.collection_id = c.collection_id)) as reindex
    from retrieval.collections c`;
}

/** The collection of a tenant with an id or a name; undefined if it does not exist. */
export async function findCollection(
  sql: Sql | TransactionSql,
  tenant: string,
  by: { readonly id: string } | { readonly name: string },
): Promise<CollectionRecord | undefined> {
  const condition = 'id' in by ? sql`c.collection_id = ${by.id}` : sql`c.name = ${by.name}`;
  const [found] = await sql<CollectionRecord[]>`
    select ${columns(sql)} where c.tenant = ${tenant} and ${condition} and c.status <> 'deleted'`;
  return found;
}

/** A part of a list in the order of names, compared byte by byte. Absent members include everything. */
export type CollectionPage = {
  /** The name of the last collection before the page. */
  readonly after?: string | undefined;
  readonly limit?: number | undefined;
};

/** Collections of a tenant: those with one of the ids, and all public collections, in the order of their names. */
export async function listVisibleCollections(
  sql: Sql,
  { tenant, ids }: { readonly tenant: string; readonly ids: readonly string[] },
  page: CollectionPage,
): Promise<readonly CollectionRecord[]> {
  return sql<CollectionRecord[]>`
    select ${columns(sql)}
    where c.tenant = ${tenant} and c.status <> 'deleted' and ${isAfter(sql, page)}
      and (c.visibility = 'public' or c.collection_id::text = any(${sql.array([...ids])}::text[]))
    order by c.name collate "C" limit ${page.limit ?? null}`;
}

/** Every collection of a tenant after the beginning of a page, in the order of their names. */
export async function listPlaces(
  sql: Sql,
  tenant: string,
  page: Pick<CollectionPage, 'after'>,
): Promise<readonly { readonly id: string; readonly isPublic: boolean }[]> {
  return sql<{ id: string; isPublic: boolean }[]>`
    select c.collection_id as id, c.visibility = 'public' as "isPublic" from retrieval.collections c
    where c.tenant = ${tenant} and c.status <> 'deleted' and ${isAfter(sql, page)}
    order by c.name collate "C"`;
}

function isAfter(sql: Sql, { after }: Pick<CollectionPage, 'after'>) {
  return after === undefined ? sql`true` : sql`c.name collate "C" > ${after}`;
}

/**
 * The collection as the API returns it to those who may not write it: a failure of a reindex can be about a document that they
 * may not see.
 */
export function collectionOfReader(record: CollectionRecord): Collection {
  const { reindex } = record;
  return collectionOf(reindex ? { ...record, reindex: { ...reindex, failure: null } } : record);
}

/** The collection as the API returns it to those who may write it. */
export function collectionOf(record: CollectionRecord): Collection {
  const { retrievalDefaults: defaults, reindex } = record;
  return {
    collection_id: record.collectionId,
    tenant_id: record.tenant,
    name: record.name,
    description: record.description,
    collection_type: record.collectionType,
    parent_id: record.parentId,
    visibility: record.visibility,
    embedding_profile_id: record.embeddingProfileId,
    acl_model: record.aclModel,
    chunking: { strategy: 'recursive_text', size: record.chunkSize, overlap: record.chunkOverlap },
    retrieval_defaults: {
      mode: defaults.mode ?? 'hybrid',
      top_k: defaults.top_k ?? retrievalLimits.topK.default,
      rerank_profile_id: defaults.rerank_profile_id ?? null,
    },
    empty_acl_policy: record.emptyAclPolicy,
    status: record.status,
    active_version: record.activeVersion,
    doc_count: record.docCount,
    chunk_count: record.chunkCount,
    created_at: record.createdAt.toISOString(),
    updated_at: record.updatedAt.toISOString(),
    ...(reindex === null ? {} : { reindex }),
  };
}
