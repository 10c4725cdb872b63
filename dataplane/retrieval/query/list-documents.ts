import type { StoredDocument } from '#contracts/retrieval-documents';
import type { Sql, SqlPart } from '#sql/connect';
import { type Visibility, visibleDocument } from './visible-chunks.ts';

/**
 * Which documents are listed: those that the caller may see at present, or every live document for a writer of the
 * collection.
 */
export type DocumentSelection = {
  readonly visibility: Visibility;
  readonly isWriter: boolean;
};

type DocumentRow = Omit<StoredDocument, 'available_at'> & {
  readonly available_at: Date;
};

/** At most `limit` documents after an id, in the byte order of the ids. */
type Page = {
  readonly after: string | undefined;
  readonly limit: number;
  /**
   * Maximum number of documents that are compared with the labels of the caller one after another; 5,000 by default.
   */
  readonly mostWalked?: number;
};

const walkedByDefault = 5_000;

/**
 * A page of the documents of a collection. Where the caller may see few of many, they are read by their labels, so that the
 * cost of a page does not grow with the documents that the caller may not see (docs/decisions/0163).
 */
export async function listDocuments(
  sql: Sql,
  selection: DocumentSelection,
  page: Page,
): Promise<readonly StoredDocument[]> {
  if (selection.isWriter || selection.visibility.labels === 'every') return listInOrder(sql, selection, page);
  const walked = await listWalked(sql, selection, page);
  if (walked.length === page.limit) return walked;
  // Each of these queries reads the whole page again, because documents may have changed since the walk.
  const rest = (await hasMoreThanWalked(sql, selection, page)) ? listByLabels : listInOrder;
  return rest(sql, selection, page);
}

async function listInOrder(
  sql: Sql,
  selection: DocumentSelection,
  { after, limit }: Page,
): Promise<readonly StoredDocument[]> {
  const rows = await sql<DocumentRow[]>`
    ${selected(sql, sql`retrieval.documents`)} where ${selects(sql, selection)} and ${isAfter(sql, after)}
    order by d.doc_id collate "C" limit ${limit}`;
  return rows.map(documentOf);
}

/** The visible documents among the first documents. */
async function listWalked(
  sql: Sql,
  selection: DocumentSelection,
  { after, limit, mostWalked = walkedByDefault }: Page,
): Promise<readonly StoredDocument[]> {
  const walked = sql`(
    select d.*, d.doc_id collate "C" as place from retrieval.documents d
    where d.collection_id = ${selection.visibility.collectionId} and not d.deleted and ${isAfter(sql, after)}
    order by place limit ${mostWalked})`;
  const rows = await sql<DocumentRow[]>`
    ${selected(sql, walked)} where ${selects(sql, selection)} order by d.place limit ${limit}`;
  return rows.map(documentOf);
}

async function hasMoreThanWalked(
  sql: Sql,
  { visibility }: DocumentSelection,
  { after, mostWalked = walkedByDefault }: Page,
): Promise<boolean> {
  const [found] = await sql`
    select 1 from retrieval.documents d
    where d.collection_id = ${visibility.collectionId} and not d.deleted and ${isAfter(sql, after)}
    order by d.doc_id collate "C" limit 1 offset ${mostWalked}`;
  return found !== undefined;
}

async function listByLabels(
  sql: Sql,
  selection: DocumentSelection,
  { after, limit }: Page,
): Promise<readonly StoredDocument[]> {
  const { collectionId, labels } = selection.visibility;
  // No index has the order of this expression, so that no query plan walks the collection in this order.
  const found = sql`(
    select d.* from retrieval.collections k, retrieval.documents d
    where ${selects(sql, selection)} and ${isAfter(sql, after)}
      and retrieval.label_keys(d.collection_id, d.labels)
        && retrieval.label_keys(${collectionId}, ${sql.array([...labels])}::text[])
    order by (d.doc_id || '') collate "C" limit ${limit})`;
  const rows = await sql<DocumentRow[]>`
    ${selected(sql, found)} where k.collection_id = ${collectionId} order by d.doc_id collate "C"`;
  return rows.map(documentOf);
}

/** The document with an id; undefined if it does not exist or the caller may not see it at present. */
export async function findDocument(
  sql: Sql,
  selection: DocumentSelection,
  docId: string,
): Promise<StoredDocument | undefined> {
  const [row] = await sql<DocumentRow[]>`
    ${selected(sql, sql`retrieval.documents`)} where ${selects(sql, selection)} and d.doc_id = ${docId}`;
  return row === undefined ? undefined : documentOf(row);
}

/** The columns of documents `d` of collections `k`. */
function selected(sql: Sql, documents: SqlPart) {
  return sql`
    select d.doc_id, d.title, d.source_url, d.metadata, j.content_hash,
      ${inUtc(sql, sql`d.valid_from`)} as valid_from, ${inUtc(sql, sql`d.valid_until`)} as valid_until, d.available_at,
      coalesce(i.chunk_count, 0) as chunk_count
    from retrieval.collections k
    join ${documents} d on d.collection_id = k.collection_id
    join retrieval.jobs j on j.doc = d.doc and j.seq = d.live_seq
    left join retrieval.indexed_documents i on i.doc = d.doc and i.version = k.active_version`;
}

function selects(sql: Sql, { visibility, isWriter }: DocumentSelection) {
  if (!isWriter) return visibleDocument(sql, visibility);
  const { tenant, collectionId } = visibility;
  return sql`
    k.tenant = ${tenant} and k.collection_id = ${collectionId} and k.status <> 'deleted'
    and d.collection_id = k.collection_id and not d.deleted`;
}

function isAfter(sql: Sql, after: string | undefined) {
  return after === undefined ? sql`true` : sql`d.doc_id collate "C" > ${after}`;
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
