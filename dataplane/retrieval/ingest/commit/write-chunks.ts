import { createHash } from 'node:crypto';
import { packEntries } from '#search/packed/pack-entries';
import type { Database, TransactionSql } from '#sql/connect';
import { removeSomeChunks } from '../remove-chunks.ts';
import type { TextChunk } from '../text/chunk-document.ts';

/** A chunk with all its stored data. */
export type IndexedChunk = TextChunk & {
  readonly tokens: number;
  readonly terms: readonly string[];
  readonly vector: Float32Array;
};

/** The document, sequence number and version that chunks are written for. */
export type ChunkTarget = {
  readonly tenant: string;
  readonly collectionId: string;
  readonly doc: string;
  readonly docId: string;
  readonly seq: string;
  readonly version: number;
};

/**
 * Whether the writer still owns the target. If so, the ownership is locked until the transaction ends; otherwise the
 * write is refused.
 */
export type WriteCondition = (sql: TransactionSql) => Promise<boolean>;

/** Removes the chunks that an earlier attempt wrote, from a given chunk on; false if the condition does not hold. */
export async function clearChunks(
  database: Database,
  target: Pick<ChunkTarget, 'doc' | 'seq' | 'version'>,
  { from, condition }: { readonly from: number; readonly condition: WriteCondition },
): Promise<boolean> {
  const { doc, seq, version } = target;
  for (let isLeft: boolean | undefined = true; isLeft; ) {
    // Each statement has its own transaction, so that the locks of the condition are not held for long.
    isLeft = await database.sql.begin(async (sql) => {
      if (!(await condition(sql))) return undefined;
      const addresses = sql`
        select ctid from retrieval.chunks
        where doc = ${doc} and seq = ${seq} and version = ${version} and no >= ${from}`;
      return removeSomeChunks(sql, addresses);
    });
    if (isLeft === undefined) return false;
  }
  return true;
}

/** Chunks that are written together; `origin` is stored in the first chunk. */
type ChunkBatch = { readonly chunks: readonly IndexedChunk[]; readonly origin: string };

/**
 * Writes one batch of chunks, which are invisible until the document becomes live with them; false if the condition is
 * not met.
 */
export async function writeChunks(
  database: Database,
  target: ChunkTarget,
  { chunks, origin }: ChunkBatch,
  condition: WriteCondition,
): Promise<boolean> {
  const rows = JSON.stringify(chunks.map((chunk, at) => chunkRow(target, chunk, at === 0 ? chunks : undefined)));
  return database.sql.begin(async (sql) => {
    if (!(await condition(sql))) return false;
    await sql`
      insert into retrieval.chunks (doc, seq, version, no, chunk_id, start_at, end_at, heading, page, text, tokens, terms,
        vector, packed, made_from)
      select ${target.doc}, ${target.seq}, ${target.version}, no, chunk_id, start_at, end_at, heading, page, text, tokens,
        terms, decode(vector, 'base64'), decode(packed, 'base64'),
        case when packed is not null then decode(${origin}, 'hex') end
      from json_to_recordset(${rows}::text::json) as r (no integer, chunk_id text, start_at integer, end_at integer,
        heading text, page integer, text text, tokens integer, terms text, vector text, packed text)`;
    return true;
  });
}

/** @param packed the chunks that are packed together with this one */
function chunkRow(target: ChunkTarget, chunk: IndexedChunk, packed: readonly IndexedChunk[] | undefined): object {
  const { no, start, end, heading, page, text, tokens, terms, vector } = chunk;
  const bytes = Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
  return {
    no,
    chunk_id: chunkId(target, no),
    start_at: start,
    end_at: end,
    heading: heading ?? null,
    page: page ?? null,
    text,
    tokens,
    terms: terms.join(' '),
    vector: bytes.toString('base64'),
    packed: packed === undefined ? null : packChunks(target, packed),
  };
}

function packChunks(target: ChunkTarget, chunks: readonly IndexedChunk[]): string {
  const entries = chunks.map(({ no, terms, vector }) => ({ id: chunkId(target, no), terms, vector }));
  return Buffer.from(packEntries(entries).buffer).toString('base64');
}

/** An id that permanently identifies one content: a later content of the document has another sequence number. */
function chunkId({ tenant, collectionId, docId, seq, version }: ChunkTarget, no: number): string {
  const parts = JSON.stringify([tenant, collectionId, docId, seq, version, no]);
  return createHash('sha256').update(parts).digest('hex').slice(0, 40);
}
