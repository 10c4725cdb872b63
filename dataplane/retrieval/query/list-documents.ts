import type { StoredDocument } from '#contracts/retrieval-documents';
import type { Sql } from '#sql/connect';
import { type Visibility, visibleDocument } from './visible-chunks.ts';

/**
 * The documents that are listed: those that the caller may see at present, or every live one for a writer of the
 * collection.
 */
export type DocumentSelection = {
  readonly visibility: Visibility;
  readonly isWriter: boolean;
};

type DocumentRow = Omit<StoredDocument, 'available_at'> & {
  readonly available_at: Date;
};

/** At most `limit` documents after an id, in the byte order of their ids. */
export async function listDocuments(
  sql: Sql,
  selection: DocumentSelection,
  page: { readonly after: string | undefined; readonly limit: number },
): Promise<readonly StoredDocument[]> {
  const { after, limit } = page;
  const rest = after === undefined ? sql`true` : sql`d.doc_id collate "C" > ${after}`;
  const rows = await sql<DocumentRow[]>`
    ${selected(sql, selection)} and ${rest} order by d.doc_id collate "C" limit ${limit}`;
  return rows.map(documentOf);
}

/** The document with an id; undefined if it does not exist or the caller may not see it at present. */
export async function findDocument(
  sql: Sql,
  selection: DocumentSelection,
  docId: string,
): Promise<StoredDocument | undefined> {
  const [row] = await sql<DocumentRow[]>`${selected(sql, selection)} and d.doc_id = ${docId}`;
  return row === undefined ? undefined : documentOf(row);
}

function selected(sql: Sql, { visibility, isWriter }: DocumentSelection) {
  const { tenant, collectionId } = visibility;
  const condition = isWriter
    ? sql`k.tenant = ${tenant} and k.collection_id = ${collectionId} and k.status <> 'deleted'
        and d.collection_id = k.collection_id and not d.deleted`
    : visibleDocument(sql, visibility);
  return sql`
    select d.doc_id, d.title, d.source_url, d.metadata, j.content_hash,
      ${inUtc(sql, sql`d.valid_from`)} as valid_from, ${inUtc(sql, sql`d.valid_until`)} as valid_until, d.available_at,
      coalesce(i.chunk_count, 0) as chunk_count
    from retrieval.collections k
    join retrieval.documents d on d.collection_id = k.collection_id
    join retrieval.jobs j on j.doc = d.doc and j.seq = d.live_seq
    left join retrieval.indexed_documents i on i.doc = d.doc and i.version = k.active_version
    where ${condition}`;
}

/** Converts in SQL, because the driver misreads years before 100 and cannot read offsets with seconds. */
function inUtc(sql: Sql, instant: ReturnType<Sql>) {
  return sql`to_char(${instant} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

function documentOf(row: DocumentRow): StoredDocument {
  return {
    ...row,
    available_at: row.available_at.toISOString(),
  };
}
