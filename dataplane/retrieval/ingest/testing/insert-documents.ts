import type { Database } from '#sql/connect';

/** Numbers of rows. */
type InsertedDocuments = { readonly documents: number; readonly chunksOfEach: number };

/**
 * Writes live documents with their jobs and chunks as ingest leaves them, each with the next change number of the collection,
 * faster than by ingest. Every chunk has the text `otter` and the same vector of the test profile.
 */
export async function insertDocuments(
  database: Database,
  collectionId: string,
  { documents, chunksOfEach }: InsertedDocuments,
): Promise<void> {
  await using writer = database.alone({ statementTimeoutMs: 120_000 });
  const { sql } = writer;
  await sql`
    with raised as (
      update retrieval.collections set change_no = change_no + ${documents}::integer, doc_count = doc_count + ${documents}
      where collection_id = ${collectionId} returning change_no - ${documents}::integer as before
    ), written as (
      insert into retrieval.documents (tenant, collection_id, doc_id, last_seq, last_op, live_seq, deleted, change_no, labels,
        available_at)
      select 'acme', ${collectionId}, 'd' || (before + n), 1, 'upsert', 1, false, before + n, '{group:acme/staff}', now()
      from raised, generate_series(1, ${documents}::integer) n
      returning doc, doc_id
    ), jobs as (
      insert into retrieval.jobs (job_id, tenant, collection_id, collection, doc, doc_id, seq, op, op_epoch, content_hash,
        idempotency_key, labels, payload_key, staged, settled, status, trace_id, available_at)
      select gen_random_uuid(), 'acme', ${collectionId}, 'handbook', doc, doc_id, 1, 'upsert', 0, 'hash', 'key', '{}', 'staged',
        false, true, 'DONE', 'trace', now()
      from written
    ), indexed as (
      insert into retrieval.indexed_documents (doc, version, seq, chunk_count)
      select doc, 1, 1, ${chunksOfEach}::integer from written where ${chunksOfEach}::integer > 0
    )
    insert into retrieval.chunks (doc, seq, version, no, chunk_id, start_at, end_at, text, tokens, terms, vector)
    select doc, 1, 1, no, ${collectionId}::text || '/' || doc || '/' || no, 0, 5, 'otter', 1, 'otter',
      decode('0000803f' || repeat('00000000', 7), 'hex')
    from written, generate_series(1, ${chunksOfEach}::integer) no`;
}
