import { randomUUID } from 'node:crypto';
import { packEntries } from '#search/packed/pack-entries';
import type { IndexEntry } from '#search/ports';
import type { Database } from '#sql/connect';
import { migrate } from '#sql/migrate';
import { partitionName } from '../../dataplane/retrieval/index/partition-name.ts';
import { analysed, groups, makeChunk, readCorpus } from './chunks.ts';

const chunksOfDocument = 10;
const batch = 1_000;

type FillOptions = {
  readonly chunks: number;
  readonly dimensions: number;
  /** The label of a group of readers; the documents are divided among `groups` of them. */
  readonly labelOf?: (group: number) => string;
  /** Returns vectors of texts; random vectors when absent. */
  readonly embed?: (texts: readonly string[]) => Promise<readonly Float32Array[]>;
};

/** Writes live documents of ten chunks each, in the state after ingest. Returns the name of their partition. */
export async function fillDatabase(
  database: Database,
  { chunks, dimensions, labelOf = (group) => `group:${group}`, embed }: FillOptions,
): Promise<string> {
  const { sql } = database;
  await migrate(database, {
    schema: 'retrieval',
    folder: new URL('../../dataplane/retrieval/migrations/', import.meta.url),
  });
  const collectionId = randomUUID();
  await sql`
    insert into retrieval.collections (collection_id, tenant, name, collection_type, visibility, acl_model,
      empty_acl_policy, chunk_size, chunk_overlap, embedding_profile_id, status, change_no)
    values (${collectionId}, 'acme', 'speed', 'documents', 'private', 'document', 'reject', 800, 120, 'speed', 'ready', 1)`;
  await sql`
    insert into retrieval.index_versions (collection_id, number, embedding_profile_id, state)
    values (${collectionId}, 1, 'speed', 'active')`;
  const sentences = analysed(readCorpus());
  for (let from = 0; from < chunks; from += batch) {
    const made = Array.from({ length: Math.min(batch, chunks - from) }, (_, at) =>
      makeChunk(from + at, dimensions, sentences),
    );
    const vectors = await embed?.(made.map(({ entry }) => entry.terms.join(' ')));
    const rows = made.map(({ no, entry }, at) => {
      const document = Math.floor(no / chunksOfDocument);
      const { buffer, byteOffset, byteLength } = vectors?.[at] ?? entry.vector ?? new Float32Array();
      const bytes = Buffer.from(buffer, byteOffset, byteLength);
      return {
        doc: document + 1,
        no: no % chunksOfDocument,
        id: entry.id,
        label: labelOf(document % groups),
        terms: entry.terms.join(' '),
        vector: bytes.toString('base64'),
        packed: no % chunksOfDocument === 0 ? packDocument(made, vectors, at) : null,
      };
    });
    await insertRows(database, collectionId, JSON.stringify(rows));
  }
  await sql`analyze retrieval.documents, retrieval.chunks`;
  return partitionName({ collectionId, version: 1 });
}

/** The chunks of the document that begins at a place, as the ingest packs them. */
function packDocument(
  made: readonly { readonly entry: IndexEntry }[],
  vectors: readonly Float32Array[] | undefined,
  first: number,
): string {
  const entries = made.slice(first, first + chunksOfDocument).map(({ entry }, at) => {
    const vector = vectors?.[first + at] ?? entry.vector ?? new Float32Array();
    return { id: entry.id, terms: entry.terms, vector };
  });
  return Buffer.from(packEntries(entries).buffer).toString('base64');
}

async function insertRows({ sql }: Database, collectionId: string, rows: string): Promise<void> {
  await sql`
    insert into retrieval.documents (doc, tenant, collection_id, doc_id, last_seq, last_op, live_seq, deleted, change_no,
      labels)
    overriding system value
    select doc, 'acme', ${collectionId}, doc::text, 1, 'upsert', 1, false, 1, array[min(label)]
    from json_to_recordset(${rows}::text::json) as r (doc bigint, label text) group by doc`;
  await sql`
    insert into retrieval.chunks (doc, seq, version, no, chunk_id, start_at, end_at, text, tokens, terms, vector,
      packed)
    select doc, 1, 1, no, id, 0, length(terms), terms, 0, terms, decode(vector, 'base64'), decode(packed, 'base64')
    from json_to_recordset(${rows}::text::json) as r (doc bigint, no integer, id text, terms text, vector text,
      packed text)`;
}
