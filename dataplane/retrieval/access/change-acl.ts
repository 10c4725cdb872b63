import type { Database } from '#sql/connect';
import type { Note } from './change-author.ts';

/**
 * Changes the labels of a document without its text: the labels of the live document, and of every upsert that has not
 * taken effect yet, so that an older job never restores an older access list. An upsert that is submitted later sets
 * the labels again. Locks: document, jobs, collection, as for every change of a document.
 * @returns `not_found` for a document that is neither live nor submitted
 */
export async function changeAcl(
  database: Database,
  change: {
    readonly collectionId: string;
    readonly docId: string;
    readonly labels: readonly string[];
    /** Receives the number of the document. */
    readonly note: Note<string>;
  },
): Promise<'changed' | 'not_found'> {
  const { collectionId, docId, note } = change;
  return database.sql.begin(async (sql) => {
    const labels = sql.array([...change.labels]);
    const [document] = await sql<{ doc: string; deleted: boolean }[]>`
      select doc, deleted from retrieval.documents
      where collection_id = ${collectionId} and doc_id = ${docId} for no key update`;
    if (document === undefined) return 'not_found';
    const { doc, deleted } = document;
    const coming = await sql`
      update retrieval.jobs set labels = ${labels}::text[]
      where doc = ${doc} and op = 'upsert' and status <> 'DONE' returning job_id`;
    if (deleted && coming.length === 0) return 'not_found';
    if (deleted) {
      await note(sql, doc);
      return 'changed';
    }
    await sql`update retrieval.documents set labels = ${labels}::text[] where doc = ${doc}`;
    await sql`
      with changed as (
        update retrieval.collections set change_no = change_no + 1, updated_at = clock_timestamp()
        where collection_id = ${collectionId} returning change_no
      )
      update retrieval.documents d set change_no = changed.change_no from changed where d.doc = ${doc}`;
    await note(sql, doc);
    return 'changed';
  });
}
