import type { Sql } from '#sql/connect';

/** A chunk that the caller may see, with the members of its citation. */
export type VisibleChunk = {
  readonly chunkId: string;
  readonly doc: string;
  readonly docId: string;
  readonly no: number;
  readonly sourceUrl: string | null;
  readonly title: string | null;
  readonly heading: string | null;
  readonly page: number | null;
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly tokens: number;
};

/** The conditions for a document to be visible: the state of the collection and the rights of the caller. */
export type Visibility = {
  readonly tenant: string;
  readonly collectionId: string;
  /** `every` if the right to read the collection includes its documents. */
  readonly labels: readonly string[] | 'every';
};

/** The condition on a document `d` of a collection `k`, evaluated when the statement runs. */
export function visibleDocument(sql: Sql, { tenant, collectionId, labels }: Visibility) {
  const byLabel = labels === 'every' ? sql`true` : sql`d.labels && ${sql.array([...labels])}::text[]`;
  return sql`
    k.tenant = ${tenant} and k.collection_id = ${collectionId} and k.status <> 'deleted'
    and d.collection_id = k.collection_id and not d.deleted and ${byLabel}
    and (d.valid_from is null or d.valid_from <= clock_timestamp())
    and (d.valid_until is null or d.valid_until > clock_timestamp())`;
}

/**
 * The chunks with these ids that are live in a version and that the caller may see at present, in the order of the ids.
 * The index proposes candidates; this statement decides
 * (docs/design/retrieval-search.md, What an index may decide).
 */
export async function visibleChunks(
  sql: Sql,
  visibility: Visibility,
  version: number,
  ids: readonly string[],
): Promise<readonly VisibleChunk[]> {
  if (ids.length === 0) return [];
  return sql<VisibleChunk[]>`
    select c.chunk_id as "chunkId", c.doc, d.doc_id as "docId", c.no, d.source_url as "sourceUrl", d.title, c.heading,
      c.page, c.start_at as start, c.end_at as "end", c.text, c.tokens
    from unnest(${sql.array([...ids])}::text[]) with ordinality as i (chunk_id, place)
    join retrieval.chunks c using (chunk_id)
    join retrieval.documents d on d.doc = c.doc and d.live_seq = c.seq
    join retrieval.collections k on k.collection_id = d.collection_id
    where c.version = ${version} and ${visibleDocument(sql, visibility)}
    order by i.place`;
}

/**
 * The ids among `ids` whose chunks the caller may see at present, in any version. This is the last check of an answer,
 * after calls that take time.
 */
export async function stillVisible(
  sql: Sql,
  visibility: Visibility,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = await sql<{ id: string }[]>`
    select c.chunk_id as id
    from retrieval.chunks c
    join retrieval.documents d on d.doc = c.doc and d.live_seq = c.seq
    join retrieval.collections k on k.collection_id = d.collection_id
    where c.chunk_id = any(${sql.array([...ids])}::text[]) and ${visibleDocument(sql, visibility)}`;
  return new Set(rows.map(({ id }) => id));
}

/** Whether the caller may see at least one of these documents at present. */
export async function isSomeVisible(sql: Sql, visibility: Visibility, docs: readonly string[]): Promise<boolean> {
  const [found] = await sql`
    select 1 from retrieval.documents d, retrieval.collections k
    where d.doc = any(${sql.array([...docs])}::bigint[]) and ${visibleDocument(sql, visibility)} limit 1`;
  return found !== undefined;
}

/** Whether the collection now answers from another version. */
export async function isSwitched(sql: Sql, { collectionId }: Visibility, version: number): Promise<boolean> {
  const [other] = await sql`
    select 1 from retrieval.collections where collection_id = ${collectionId} and active_version <> ${version}`;
  return other !== undefined;
}

/** Whether a document that the caller may see at present changed after a given change of its collection. */
export async function hasVisibleChange(sql: Sql, visibility: Visibility, after: string): Promise<boolean> {
  const [found] = await sql`
    select 1 from retrieval.documents d, retrieval.collections k
    where d.change_no > ${after}::bigint and ${visibleDocument(sql, visibility)} limit 1`;
  return found !== undefined;
}

/**
 * The time of the database, whole milliseconds since 1970, if a document of the collection is not valid at it; undefined
 * if all are.
 */
export async function timeIfSomeAreInvalid(sql: Sql, collectionId: string): Promise<number | undefined> {
  // The ends of two indexes: a condition with the clock would be compared with every document that has bounds.
  const [row] = await sql<{ now: number }[]>`
    select floor(extract(epoch from c.now) * 1000)::float8 as now
    from (select clock_timestamp() as now) c
    where c.now < (
        select max(valid_from) from retrieval.documents
        where collection_id = ${collectionId} and valid_from is not null and not deleted)
      or c.now >= (
        select min(valid_until) from retrieval.documents
        where collection_id = ${collectionId} and valid_until is not null and not deleted)`;
  return row?.now;
}

/** The whole text of a visible document. */
export type VisibleText = { readonly doc: string; readonly text: string };

/** Maximum number of UTF-8 bytes of one UTF-16 unit: a character of four bytes has two units. */
const mostBytesOfUnit = 3;

/** Characters of the texts of documents together, if they have at most `most`; undefined if they have more. */
export async function visibleLength(
  sql: Sql,
  visibility: Visibility,
  docs: readonly string[],
  most: number,
): Promise<number | undefined> {
  const chosen = chosenDocuments(sql, visibility, docs);
  // The number of bytes is known without reading the texts, which are long and compressed.
  const [stored] = await sql<{ bytes: number }[]>`
    select coalesce(sum(octet_length(d.text)), 0)::float8 as bytes ${chosen}`;
  if (stored === undefined || stored.bytes > most * mostBytesOfUnit) return undefined;
  const [size] = await sql<{ length: number }[]>`
    select coalesce(sum(length(d.text)), 0)::float8 as length ${chosen}`;
  return size === undefined || size.length > most ? undefined : size.length;
}

/** The texts of documents, or the first characters of each. */
export async function visibleTexts(
  sql: Sql,
  visibility: Visibility,
  docs: readonly string[],
  first?: number,
): Promise<readonly VisibleText[]> {
  const text = first === undefined ? sql`d.text` : sql`left(d.text, ${first}::integer) as text`;
  return sql<VisibleText[]>`select d.doc, ${text} ${chosenDocuments(sql, visibility, docs)}`;
}

function chosenDocuments(sql: Sql, visibility: Visibility, docs: readonly string[]) {
  return sql`
    from retrieval.documents d, retrieval.collections k
    where d.doc = any(${sql.array([...docs])}::bigint[]) and ${visibleDocument(sql, visibility)}`;
}
