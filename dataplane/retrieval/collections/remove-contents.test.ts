import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openPostgresAudit } from '#audit/adapters/postgres/postgres-audit';
import { changeEntry } from '#audit/change-entry';
import { openRelations, relationTables } from '#relations/adapters/open-relations';
import type { RecordedChanges } from '#relations/changes/recorded-changes';
import type { Relations } from '#relations/ports';
import { collectionObject } from '#relations/tenant-object';
import { migrate } from '#sql/migrate';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import { createRelationChanges } from '../access/change-relations.ts';
import { mostChunksRemoved } from '../ingest/remove-chunks.ts';
import { insertDocuments } from '../ingest/testing/insert-documents.ts';
import { insertCollection, type OpenedIngest, openIngest } from '../ingest/testing/open-ingest.ts';
import { countRemovedRows } from '../ingest/testing/removed-rows.ts';
import { unwrittenLogger } from '../ingest/testing/unwritten-logger.ts';
import { mostJobsRemoved, removeContents } from './remove-contents.ts';

describe.skipIf(missingPostgres !== undefined)(onPostgres('the removal of deleted collections'), () => {
  let opened: TestDatabase;
  let relations: Relations;
  let relationChanges: RecordedChanges;
  let ingest: OpenedIngest;

  beforeEach(async () => {
    opened = await openTestDatabase();
    const { database } = opened;
    ingest = await openIngest(database);
    const store = { kind: 'postgres' } as const;
    await migrate(database, relationTables(store));
    relations = await openRelations(store, database, undefined);
    const audit = await openPostgresAudit(database, 'retrieval');
    // A store that behaves as if outside of the database: its changes are recorded before they are made.
    const outside = { ...relations, joinsTransactions: false };
    relationChanges = createRelationChanges({ database, relations: outside, audit }, unwrittenLogger);
  });
  afterEach(async () => {
    await relations[Symbol.asyncDispose]();
    await opened[Symbol.asyncDispose]();
  });

  const end = async () => {
    await opened.database.sql`
      update retrieval.collections set status = 'deleted' where collection_id = ${ingest.collectionId}`;
  };
  const remove = (dropPartition: (collectionId: string) => Promise<void> = async () => undefined) =>
    removeContents(
      { ...ingest.ports, database: opened.database, relations, relationChanges, dropPartition },
      new AbortController().signal,
    );

  test('documents with many chunks are removed in transactions of a bounded size, and no other collection is affected', async () => {
    const { database } = opened;
    const kept = await insertCollection(database);
    await insertDocuments(database, kept, { documents: 1, chunksOfEach: 2 });
    await insertDocuments(database, ingest.collectionId, { documents: 3, chunksOfEach: (mostChunksRemoved + 1) / 3 });
    await end();
    const removed = await countRemovedRows(database, 'chunks');
    expect(await remove()).toBe(1);
    expect(await removed()).toEqual([mostChunksRemoved, 1]);
    expect(await remove()).toBe(0);
    const left = await database.sql`
      select collection_id as "collectionId", count(*)::int as chunks
      from retrieval.documents join retrieval.chunks using (doc) group by collection_id`;
    expect([...left]).toEqual([{ collectionId: kept, chunks: 2 }]);
  });

  test('documents are removed together up to 64 MiB of text, and a longer one alone', async () => {
    const { database } = opened;
    await insertDocuments(database, ingest.collectionId, { documents: 5, chunksOfEach: 1 });
    await using writer = database.alone({ statementTimeoutMs: 120_000 });
    // Sizes in MiB, in the order of the removal.
    await writer.sql`
      update retrieval.documents d set text = repeat('x', 1024 * 1024 * mib)
      from (select doc, (array[32, 31, 1, 65, 1])[row_number() over (order by doc)] as mib from retrieval.documents) t
      where d.doc = t.doc`;
    await end();
    const removed = await countRemovedRows(database, 'documents');
    expect(await remove()).toBe(1);
    expect(await removed()).toEqual([3, 1, 1]);
  });

  test('the jobs of a document are removed in transactions of a bounded size, with their staged originals', async () => {
    const { sql } = opened.database;
    await ingest.submit({ docId: 'a', text: 'words' });
    const [original] = await sql<{ key: string }[]>`select payload_key as key from retrieval.jobs`;
    await sql`
      insert into retrieval.jobs (job_id, tenant, collection_id, collection, doc, doc_id, seq, op, op_epoch, content_hash,
        idempotency_key, labels, payload_key, staged, settled, status, trace_id, available_at)
      select gen_random_uuid(), tenant, collection_id, collection, doc, doc_id, seq + n, op, op_epoch, content_hash, 'key' || n,
        labels, 'gone', false, true, 'DONE', trace_id, now()
      from retrieval.jobs, generate_series(1, ${mostJobsRemoved}::integer) n`;
    const stored = () => ingest.ports.objects.get(original?.key ?? '', { maxBytes: 1_024 });
    expect(await stored()).toBeDefined();
    await end();
    const removed = await countRemovedRows(opened.database, 'jobs');
    expect(await remove()).toBe(1);
    expect(await removed()).toEqual([mostJobsRemoved, 1]);
    expect(await sql`select from retrieval.documents`).toEqual([]);
    expect(await stored()).toBeUndefined();
  });

  /** Deletes the collection and a second collection; each has one document. */
  async function deleteTwo(): Promise<void> {
    const { database } = opened;
    for (const id of [ingest.collectionId, await insertCollection(database)]) {
      await insertDocuments(database, id, { documents: 1, chunksOfEach: 1 });
      await database.sql`
        update retrieval.collections set status = 'deleted', updated_at = clock_timestamp() where collection_id = ${id}`;
    }
  }

  test('a collection that cannot be emptied does not prevent others from being emptied', async () => {
    const { database } = opened;
    await deleteTwo();
    const left = () => database.sql`select collection_id as id from retrieval.index_versions`;
    const refuse = async (id: string) => {
      if (id === ingest.collectionId) throw new Error('refused');
    };
    await expect(remove(refuse)).rejects.toThrow('refused');
    expect([...(await left())]).toEqual([{ id: ingest.collectionId }]);
    expect(await remove()).toBe(1);
    expect([...(await left())]).toEqual([]);
  });

  test('the texts of all deleted collections are removed before an index that does not answer is called', async () => {
    const { database } = opened;
    await deleteTwo();
    const left: number[] = [];
    await remove(async () => {
      left.push((await database.sql`select from retrieval.documents`).length);
    });
    expect(left).toEqual([0, 0]);
  });

  test('the relations of a deleted collection stay until each change of them has its audit entry', async () => {
    const { sql } = opened.database;
    const object = collectionObject('acme', ingest.collectionId);
    const granted = { subject: 'user:test|ann', relation: 'reader', object };
    await relations.grant([granted]);
    const by = { author: { kind: 'claimed', name: 'ann' }, client: 'loopback', traceId: null } as const;
    const entry = changeEntry({ action: 'relation.grant', target: { type: 'collection', id: object } }, by, new Date());
    await sql`
      insert into retrieval.relation_changes (change_id, object, relation, subject, action, entry)
      values (gen_random_uuid(), ${object}, ${granted.relation}, ${granted.subject}, 'grant', ${JSON.stringify(entry)})`;
    await end();
    await remove();
    expect(await relations.tuplesOf(object)).toEqual([granted]);
    await sql`update retrieval.relation_changes set created_at = clock_timestamp() - interval '30 s'`;
    await relationChanges.settleLeft();
    const [settled] = await sql<{ outcome: string }[]>`select outcome from audit.entries`;
    expect(settled?.outcome).toBe('accepted');
    expect(await remove()).toBe(1);
    expect([await relations.tuplesOf(object), await remove()]).toEqual([[], 0]);
  });

  test('a staged original is removed even if its job had ended and its removal was interrupted', async () => {
    await ingest.submit({ docId: 'a', text: 'private words' });
    const { objects } = ingest.ports;
    const [job] = await opened.database.sql<{ key: string }[]>`
      update retrieval.jobs set status = 'FAILED', failure_code = 'denied', staged = false returning payload_key as key`;
    await end();
    await remove();
    expect(await objects.get(job?.key ?? '', { maxBytes: 1_000 })).toBeUndefined();
  });
});
