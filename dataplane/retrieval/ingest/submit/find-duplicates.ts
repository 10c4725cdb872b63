import type { Sql, TransactionSql } from '#sql/connect';
import type { JobIdentity } from './decide-submit.ts';

/** Object identifier of uuid in PostgreSQL. */
const uuidType = 2950;

/**
 * The positions of documents that repeat a job of the current epoch of their document, so that they need no staging.
 * The result is an estimate without locks: the transaction that registers the jobs decides.
 */
export async function findDuplicates(
  sql: Sql | TransactionSql,
  documents: readonly JobIdentity[],
): Promise<ReadonlySet<number>> {
  const rows = await sql<{ at: number }[]>`
    select p.at::int as at
    from unnest(
      ${sql.array(
        documents.map((one) => one.collectionId),
        uuidType,
      )}::uuid[],
      ${sql.array(documents.map((one) => one.docId))}::text[],
      ${sql.array(documents.map((one) => one.op))}::text[],
      ${sql.array(documents.map((one) => one.contentHash))}::text[],
      ${sql.array(documents.map((one) => one.idempotencyKey))}::text[]
    ) with ordinality as p (collection_id, doc_id, op, content_hash, idempotency_key, at)
    join retrieval.documents d using (collection_id, doc_id)
    join retrieval.jobs j on j.doc = d.doc and j.op_epoch = d.op_epoch and j.op = p.op
      and j.content_hash = p.content_hash and j.idempotency_key = p.idempotency_key`;
  return new Set(rows.map(({ at }) => at - 1));
}

/**
 * The documents of a batch for which a submit registers new jobs: those that repeat neither a job nor an earlier document
 * of the batch. An estimate like `findDuplicates`.
 */
export async function withoutDuplicates<T extends JobIdentity>(
  sql: Sql | TransactionSql,
  documents: readonly T[],
): Promise<readonly T[]> {
  const repeated = await findDuplicates(sql, documents);
  const ofDocument = new Map<
    string,
    { readonly op: JobIdentity['op']; readonly isChanged: boolean; readonly keys: Set<string> }
  >();
  return documents.filter(({ collectionId, docId, op, contentHash, idempotencyKey }, at) => {
    const document = JSON.stringify([collectionId, docId]);
    const before = ofDocument.get(document);
    const isOtherOp = before !== undefined && before.op !== op;
    // After a job with another op, an equal document is a separate job.
    const now = isOtherOp || before === undefined ? { op, isChanged: isOtherOp, keys: new Set<string>() } : before;
    ofDocument.set(document, now);
    const key = JSON.stringify([contentHash, idempotencyKey]);
    const isRepeated = now.keys.has(key) || (repeated.has(at) && !now.isChanged);
    now.keys.add(key);
    return !isRepeated;
  });
}
