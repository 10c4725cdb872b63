import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { FollowedChild } from '#kit/testing/start-followed';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { connectSql, type Database, passwordFrom } from '#sql/connect';
import { migrate } from '#sql/migrate';
import { type CommitProxy, startCommitProxy } from '../support/commit-proxy.ts';
import { crashVariable } from '../support/crash-plan.ts';
import { startCrashingDatabase } from '../support/crashing-database.ts';
import { startFile } from '../support/start-process.ts';
import { auditCollection } from './audit-collection.ts';
import type { CrashSubmit } from './crash-documents.ts';
import { type CrashSettings, crashTenant } from './crash-settings.ts';
import { openCrashStores, type StoreChoice, startCrashStores } from './crash-stores.ts';
import { auditIndex } from './indexed-chunks.ts';
import { submitLanes } from './submit-lanes.ts';

const migrations = new URL('../../dataplane/retrieval/migrations/', import.meta.url);

export type CrashWorld = AsyncDisposable & {
  readonly database: Database;
  readonly collectionId: string;
  readonly proxy: CommitProxy;
  startWorker(options?: Partial<CrashSettings>): Promise<FollowedChild>;
  /** Starts a process that queries the search index, and with OpenSearch writes it. */
  startSearcher(): Promise<FollowedChild>;
  startSubmitter(submits: readonly CrashSubmit[], options?: Partial<CrashSettings>): Promise<FollowedChild>;
  /** Submits without faults and records the jobs of the accepted submits. */
  submit(submits: readonly CrashSubmit[], accepted: Map<number, string>): Promise<void>;
  /** Kills the PostgreSQL server and starts it again on its data. */
  crashDatabase(): Promise<void>;
  /** Finds faults of the collection and of its search index after every job has ended, one sentence each. */
  audit(accepted: ReadonlyMap<number, string>): Promise<readonly string[]>;
};

/** A database, stores and a collection that the crash test processes share. */
export async function openCrashWorld(choice: StoreChoice): Promise<CrashWorld> {
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(temporaryFolder());
  const databaseFolder = join(folder.path, 'database');
  mkdirSync(databaseFolder);
  const server = parts.use(await startCrashingDatabase(databaseFolder));
  const { passwordFile } = server;
  const password = passwordFrom(passwordFile);
  const database = parts.use(connectSql({ url: server.url, password, applicationName: 'crash-audit', max: 4 }));
  await migrate(database, { schema: 'retrieval', folder: migrations });
  const collectionId = await insertCrashCollection(database);
  const proxy = parts.use(await startCommitProxy(server.url));
  const storeEnvironment = await startCrashStores(choice, folder.path, parts);
  const stores = await openCrashStores(database, storeEnvironment, parts);
  const settings: CrashSettings = {
    databaseUrl: proxy.url,
    passwordFile,
    collectionId,
    awayShare: 0,
    isHealed: false,
    pauseMs: 0,
    submits: [],
  };
  async function start(file: string, options: Partial<CrashSettings>): Promise<FollowedChild> {
    const environment = { ...storeEnvironment, [crashVariable]: JSON.stringify({ ...settings, ...options }) };
    const child = startFile({ file: `e2e/retrieval-crashes/${file}`, environment });
    await child.listens(file);
    return child;
  }
  const owned = parts.move();
  return {
    database,
    collectionId,
    proxy,
    startWorker: (options = {}) => start('crash-worker.ts', options),
    startSearcher: () => start('crash-searcher.ts', {}),
    startSubmitter: (submits, options = {}) => start('crash-submitter.ts', { ...options, submits }),
    submit: (submits, accepted) =>
      submitLanes({ ...stores, database }, { ...settings, submits }, (entries) => {
        for (const [n, jobId] of entries) accepted.set(n, jobId);
      }),
    async crashDatabase() {
      await server.kill();
      await server.restart();
    },
    audit: async (accepted) => [
      ...(await auditCollection(database.sql, collectionId, accepted)),
      ...(await until('the index answers', () => auditIndex(database, stores.search.index, collectionId))),
    ],
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function insertCrashCollection({ sql }: Database): Promise<string> {
  const collectionId = randomUUID();
  await sql`
    insert into retrieval.collections (collection_id, tenant, name, collection_type, visibility, acl_model,
      empty_acl_policy, chunk_size, chunk_overlap, embedding_profile_id)
    values (${collectionId}, ${crashTenant}, 'crash', 'documents', 'private', 'document', 'reject', 100, 20, 'profile')`;
  await sql`
    insert into retrieval.index_versions (collection_id, number, embedding_profile_id, state)
    values (${collectionId}, 1, 'profile', 'active')`;
  return collectionId;
}

/** Whether every job has ended and no chunk or index remains to be removed or built. */
export async function isDrained({ database, collectionId }: CrashWorld): Promise<boolean> {
  const [row] = await database.sql<{ open: number }[]>`
    select (
      (select count(*) from retrieval.jobs
        where collection_id = ${collectionId} and (status in ('PENDING', 'RUNNING') or status = 'DONE' and not settled))
      + (select count(*) from retrieval.index_versions where collection_id = ${collectionId}
          and (state = 'building' or state in ('retired', 'failed') and not cleared)))::int as open`;
  return row?.open === 0;
}

/** Makes every job and version due now: the test skips the backoff after a fault. */
export async function endPauses({ database: { sql } }: CrashWorld): Promise<void> {
  await sql`
    update retrieval.jobs set due_at = clock_timestamp(), updated_at = updated_at - interval '1 minute',
      retry_at = case when status = 'DONE' then null else retry_at end
    where status in ('PENDING', 'RUNNING') and retry_at is not null or status = 'DONE' and not settled`;
}
