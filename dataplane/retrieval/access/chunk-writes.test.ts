import { describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { failingAtConflicts } from '#sql/testing/failing-at-conflicts';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { makeLive } from '../ingest/commit/make-live.ts';
import { type WriteCondition, writeChunks } from '../ingest/commit/write-chunks.ts';
import { type ClaimedJob, claimJob } from '../ingest/jobs/claim-job.ts';
import { type OpenedIngest, openIngest } from '../ingest/testing/open-ingest.ts';
import { ownedBy } from '../ingest/worker/process-job.ts';
import { changeAcl } from './change-acl.ts';

const chunk = {
  no: 0,
  start: 0,
  end: 5,
  text: 'words',
  tokens: 1,
  terms: ['words'],
  vector: Float32Array.of(1, 0, 0, 0, 0, 0, 0, 0),
};

async function claim({ ports }: OpenedIngest): Promise<ClaimedJob> {
  const job = await claimJob(ports.database.sql, 30_000);
  if (job === undefined) throw new Error('no job is due');
  return job;
}

/** Submits an upsert, whose chunks are written, and then a delete; `isDone` tells whether the change took effect. */
const changes: readonly {
  readonly change: string;
  readonly apply: (ingest: OpenedIngest) => Promise<unknown>;
  readonly isDone: unknown;
}[] = [
  {
    change: 'a change of its access list',
    apply: ({ ports: { database }, collectionId }) =>
      changeAcl(database, { collectionId, docId: 'a', labels: ['user:x'], note: async () => undefined }),
    isDone: 'changed',
  },
  {
    change: 'a later delete',
    apply: async (ingest) => makeLive(ingest.ports.database, await claim(ingest), undefined),
    isDone: { kind: 'done' },
  },
];

describe.skipIf(missingPostgres !== undefined)(onPostgres('chunks of a document'), () => {
  test.each(changes)(
    'chunks of a document are written while $change waits for their job, and both take effect',
    async (one) => {
      await using opened = await openTestDatabase();
      const { sql } = opened.database;
      const database = failingAtConflicts(opened.database);
      const ingest = await openIngest(database);
      await ingest.submit({ docId: 'a', text: 'words' });
      const job = await claim(ingest);
      await ingest.submit({ docId: 'a' });
      let applied: Promise<unknown> | undefined;
      const condition: WriteCondition = async (transaction) => {
        const isOwned = await ownedBy(job, 1)(transaction);
        applied = one.apply(ingest).catch((error: unknown) => error);
        await until('the change waits for a lock', async () => {
          const waiting = await sql`
          select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
          return waiting.length > 0;
        });
        return isOwned;
      };
      expect(await writeChunks(database, { ...job, version: 1 }, { chunks: [chunk], origin: '' }, condition)).toBe(
        true,
      );
      expect(await applied).toEqual(one.isDone);
      expect(await sql`select from retrieval.chunks`).toHaveLength(1);
    },
  );
});
