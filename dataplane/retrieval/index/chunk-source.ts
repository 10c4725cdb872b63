import { blockOf } from '#search/packed/block-of';
import type { EntryBlock, EntryScope, IndexEntry, PartitionSource } from '#search/ports';
import { readPartitions } from '#search/read-partitions';
import type { Database } from '#sql/connect';
import { chunkAttributes } from './chunk-attributes.ts';
import { readPartitionName } from './partition-name.ts';

/** Number of rows of one page, some megabytes of vectors; one statement reads a page. */
const pageSize = 1_000;
const groupsAtOnce = 50;
/** Chunks of the changed documents that are followed at once; a document that has more is followed alone. */
const followedChunks = 2_000;
/** Maximum number of blocks of one page, and the bytes after which no more blocks are added. */
const blocksAtOnce = 1_000;
const blockBytes = 4 * 2 ** 20;
/** Number of documents without blocks on one page. */
const plainDocuments = 100;

type Cursor = { readonly doc: string; readonly no: number };

type ChunkRow = {
  readonly doc: string;
  readonly no: number;
  readonly chunk_id: string;
  readonly doc_id: string;
  readonly labels: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly valid_from: number | null;
  readonly valid_until: number | null;
  readonly terms: string;
  /** Base64, because the driver would read bytes as hexadecimal text, which is half as long again. */
  readonly vector: string;
};

/**
 * The position in the chunks: blocks are first, then the chunks of documents that an earlier release wrote without
 * blocks.
 */
type BlockCursor = { readonly kind: 'packed' | 'plain'; readonly after: Cursor };
const beginning: Cursor = { doc: '0', no: -1 };

type BlockRow = {
  readonly doc: string;
  readonly no: number;
  readonly doc_id: string;
  readonly labels: readonly string[];
  /** JSON, parsed once a condition needs it. */
  readonly metadata: string;
  readonly valid_from: number | null;
  readonly valid_until: number | null;
  readonly packed: string;
};

/**
 * The live chunks of an active or retired version. The embedded index is built from them and follows their changes. A
 * version that is being built is a partition once a commit has proved it complete.
 */
export function chunkSource({ sql }: Database): PartitionSource {
  // Rounded outwards: a document that is valid is never excluded.
  const validity = sql`
    floor(extract(epoch from d.valid_from) * 1000)::float8 as valid_from,
    ceil(extract(epoch from d.valid_until) * 1000)::float8 as valid_until`;
  const columns = sql`
    c.doc, c.no, c.chunk_id, d.doc_id, d.labels, d.metadata, ${validity}, c.terms, encode(c.vector, 'base64') as vector`;
  const liveChunks = sql`
    from retrieval.chunks c join retrieval.documents d on d.doc = c.doc and d.live_seq = c.seq and not d.deleted`;

  async function packedBlocks(partition: string, after: Cursor) {
    const { collectionId, version } = readPartitionName(partition);
    const rows = await sql<BlockRow[]>`
      with next as (
        select c.doc, c.seq, c.no, d.doc_id, d.labels, d.metadata, ${validity},
          octet_length(c.packed) as bytes
        from retrieval.chunks c join retrieval.documents d on d.doc = c.doc and d.live_seq = c.seq and not d.deleted
        where d.collection_id = ${collectionId} and c.version = ${version} and c.packed is not null
          and d.doc >= ${after.doc}::bigint and (c.doc, c.no) > (${after.doc}::bigint, ${after.no}::integer)
        order by c.doc, c.no limit ${blocksAtOnce}
      ), page as (select *, sum(bytes) over (order by doc, no) - bytes as before from next)
      select n.doc, n.no, n.doc_id, n.labels, n.metadata::text as metadata, n.valid_from, n.valid_until, encode(c.packed, 'base64') as packed
      from page n join retrieval.chunks c on c.doc = n.doc and c.seq = n.seq and c.version = ${version} and c.no = n.no
      where n.before < ${blockBytes}
      order by n.doc, n.no`;
    const last = rows.at(-1);
    const next: BlockCursor = last
      ? { kind: 'packed', after: { doc: last.doc, no: last.no } }
      : { kind: 'plain', after: beginning };
    return { blocks: rows.map(packedBlock), next };
  }

  async function plainBlocks(partition: string, after: Cursor) {
    const { collectionId, version } = readPartitionName(partition);
    const rows = await sql<ChunkRow[]>`
      with plain as materialized (
        select d.doc from retrieval.documents d
        where d.collection_id = ${collectionId} and not d.deleted and d.doc >= ${after.doc}::bigint
          and exists (select 1 from retrieval.chunks c
            where c.doc = d.doc and c.seq = d.live_seq and c.version = ${version})
          and not exists (select 1 from retrieval.chunks c
            where c.doc = d.doc and c.seq = d.live_seq and c.version = ${version} and c.packed is not null)
        order by d.doc limit ${plainDocuments}
      )
      select ${columns} ${liveChunks}
      where c.version = ${version} and c.doc in (select doc from plain)
        and (c.doc, c.no) > (${after.doc}::bigint, ${after.no}::integer)
      order by c.doc, c.no limit ${pageSize}`;
    const last = rows.at(-1);
    const blocks = rows.map((row) => blockOf([entryOf(row)]));
    return { blocks, next: last && ({ kind: 'plain', after: { doc: last.doc, no: last.no } } as const) };
  }

  /** Takes the chunks of each document in the order of the primary key: a page of a long document reads no more than the page. */
  async function changedChunks(partition: string, docs: readonly string[], after: Cursor) {
    const { collectionId, version } = readPartitionName(partition);
    return sql<ChunkRow[]>`
      select ${columns}
      from retrieval.documents d cross join lateral (
        select * from retrieval.chunks o
        where o.doc = d.doc and o.seq = d.live_seq and o.version = ${version}
          and o.no > case when d.doc = ${after.doc}::bigint then ${after.no}::integer else -1 end
        order by o.no limit ${pageSize}) c
      where d.collection_id = ${collectionId} and not d.deleted and d.doc = any(${[...docs]}::bigint[])
        and d.doc >= ${after.doc}::bigint
      order by c.doc, c.no limit ${pageSize}`;
  }

  return readPartitions<Cursor, BlockCursor>(
    {
      async numbers(partition) {
        const { collectionId, version } = readPartitionName(partition);
        const [row] = await sql<{ change_no: string; complete_since: string }[]>`
          select c.change_no, coalesce(v.complete_since, 0) as complete_since from retrieval.collections c
          join retrieval.index_versions v on v.collection_id = c.collection_id and v.number = ${version}
          where c.collection_id = ${collectionId} and c.status <> 'deleted'
            and (v.state = 'active' or v.state = 'retired' and not v.cleared
              or v.state = 'building' and v.complete_since is not null)`;
        // Chunks that a reindex wrote before that change have no change numbers.
        return row && { newest: BigInt(row.change_no), forgottenThrough: BigInt(row.complete_since) };
      },
      /** The vectors of an active version, whose chunks are counted. */
      async leastBytes(partition) {
        const { collectionId, version } = readPartitionName(partition);
        const [row] = await sql<{ bytes: number }[]>`
          select k.chunk_count * octet_length(v.vector)::float8 as bytes
          from retrieval.collections k cross join lateral (
            select c.vector ${liveChunks} where d.collection_id = k.collection_id and c.version = ${version} limit 1) v
          where k.collection_id = ${collectionId} and k.active_version = ${version}`;
        return row?.bytes;
      },
      async page(partition, after, size) {
        const { collectionId, version } = readPartitionName(partition);
        const rows = await sql<ChunkRow[]>`
          select ${columns} ${liveChunks}
          where d.collection_id = ${collectionId} and c.version = ${version} and d.doc >= ${after?.doc ?? '0'}::bigint
            and (c.doc, c.no) > (${after?.doc ?? '0'}::bigint, ${after?.no ?? -1}::integer)
          order by c.doc, c.no limit ${size}`;
        const last = rows.at(-1);
        const next = last === undefined || rows.length < size ? undefined : { doc: last.doc, no: last.no };
        return { entries: rows.map(entryOf), next };
      },
      blocks: (partition, cursor) =>
        cursor?.kind === 'plain'
          ? plainBlocks(partition, cursor.after)
          : packedBlocks(partition, cursor?.after ?? beginning),
      async changedGroups(partition, after, size) {
        const { collectionId, version } = readPartitionName(partition);
        // The sum includes all documents of a number, so that they stay together.
        const rows = await sql<{ doc: string; change_no: string; found: number }[]>`
          with changed as (
            select doc, change_no from retrieval.documents
            where collection_id = ${collectionId} and change_no > ${String(after)}::bigint
            order by change_no fetch first ${size} rows with ties
          )
          select doc, change_no, found from (
            select c.doc, change_no, count(*) over ()::integer as found, min(change_no) over () as first,
              sum(i.chunk_count) over (order by change_no) as chunks
            from changed c left join retrieval.indexed_documents i on i.doc = c.doc and i.version = ${version}) counted
          where change_no = first or coalesce(chunks, 0) <= ${followedChunks}
          order by change_no`;
        const groups = rows.map(({ doc, change_no }) => ({ group: doc, changeNo: BigInt(change_no) }));
        const found = rows[0]?.found ?? 0;
        return { groups, more: found >= size || groups.length < found };
      },
      async *entriesOf(partition, groups) {
        let after: Cursor | undefined = beginning;
        while (after !== undefined) {
          const rows: readonly ChunkRow[] = await changedChunks(partition, groups, after);
          yield rows.map(entryOf);
          const last = rows.at(-1);
          after = last === undefined || rows.length < pageSize ? undefined : { doc: last.doc, no: last.no };
        }
      },
    },
    { pageSize, groupsAtOnce },
  );
}

function entryOf(row: ChunkRow): IndexEntry {
  const { doc, chunk_id, doc_id, labels, metadata, terms, vector } = row;
  return {
    id: chunk_id,
    group: doc,
    labels,
    attributes: chunkAttributes({ docId: doc_id, metadata, validFrom: row.valid_from, validUntil: row.valid_until }),
    terms: terms === '' ? [] : terms.split(' '),
    ...(vector === '' ? {} : { vector: vectorOf(vector) }),
  };
}

function packedBlock(row: BlockRow): EntryBlock {
  const { doc, doc_id, labels, metadata, packed, valid_from, valid_until } = row;
  const scope: EntryScope = {
    group: doc,
    labels,
    get attributes() {
      const parsed = JSON.parse(metadata) as Record<string, unknown>;
      return chunkAttributes({ docId: doc_id, metadata: parsed, validFrom: valid_from, validUntil: valid_until });
    },
  };
  return {
    packed: Buffer.from(packed, 'base64'),
    scopeOf: () => scope,
    scopeBytes: 4 * metadata.length + labels.reduce((sum, label) => sum + 16 + 2 * label.length, 0),
  };
}

/** Copies the bytes, because 32-bit numbers require an aligned offset. */
function vectorOf(base64: string): Float32Array {
  const bytes = Buffer.from(base64, 'base64');
  const vector = new Float32Array(bytes.length / Float32Array.BYTES_PER_ELEMENT);
  new Uint8Array(vector.buffer).set(bytes);
  return vector;
}
