import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { FollowedChild } from '#kit/testing/start-followed';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { connectSql, type Database, passwordFrom } from '#sql/connect';
import { type CommitProxy, startCommitProxy } from '../support/commit-proxy.ts';
import { type CrashPlan, crashVariable } from '../support/crash-plan.ts';
import { startCrashingDatabase } from '../support/crashing-database.ts';
import { startEmbeddings } from '../support/embedding-server.ts';
import { wordVector } from '../support/hashed-words.ts';
import { type RunningProcess, startFile, startProcess } from '../support/start-process.ts';

export const crashParts = ['api', 'worker', 'other worker', 'database'] as const;
type Part = (typeof crashParts)[number];

export type MemoryCrashes = AsyncDisposable & {
  readonly database: Database;
  /** The proxy that all commits pass through. */
  readonly proxy: CommitProxy;
  /** Current origin of the API; a restart may change it. */
  readonly url: string;
  /** Kills a part with SIGKILL, waits, and starts it again on its data. */
  crash(part: Part, awayMs: number): Promise<void>;
  /** Stops or starts all workers. */
  endWorkers(): Promise<void>;
  startWorkers(): Promise<void>;
  /** Starts another replica, which kills itself at a step. */
  startDoomed(role: 'api' | 'worker', plan: CrashPlan): Promise<FollowedChild & { readonly url: string }>;
};

const profile = { id: 'words', model: 'words', dimension: 16 };

/** Starts one API and two workers as separate processes, with one PostgreSQL server. */
export async function openMemoryCrashes(): Promise<MemoryCrashes> {
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(temporaryFolder()).path;
  const databaseFolder = join(folder, 'database');
  mkdirSync(databaseFolder);
  const server = parts.use(await startCrashingDatabase(databaseFolder));
  const { passwordFile } = server;
  const database = parts.use(
    connectSql({ url: server.url, password: passwordFrom(passwordFile), applicationName: 'audit', max: 4 }),
  );
  const proxy = parts.use(await startCommitProxy(server.url));
  const embeddings = parts.use(await startEmbeddings({ vectorOf: (text) => [...wordVector(text, profile.dimension)] }));
  const modelsFile = join(folder, 'models.yaml');
  writeFileSync(modelsFile, JSON.stringify({ embedding: [profile] }));
  const environmentOf = (role: 'api' | 'worker'): Readonly<Record<string, string>> => ({
    PORTCULLIS_IDENTITY: 'development',
    PORTCULLIS_ROLE: role,
    PORTCULLIS_DATABASE_URL: proxy.url,
    PORTCULLIS_DATABASE_PASSWORD_FILE: passwordFile,
    PORTCULLIS_MODEL_GATEWAY_URL: embeddings.url,
    PORTCULLIS_MODELS_FILE: modelsFile,
    PORTCULLIS_EMBEDDING_PROFILE: profile.id,
    PORTCULLIS_LOG_LEVEL: 'error',
    PORTCULLIS_EXIT_WITH_STDIN: '1',
  });
  const start = (role: 'api' | 'worker'): Promise<RunningProcess> =>
    startProcess({ file: 'dataplane/memory/main.ts', environment: environmentOf(role) });
  const running = { api: await start('api'), worker: await start('worker'), 'other worker': await start('worker') };
  parts.defer(async () => {
    await Promise.all(Object.values(running).map((one) => one.end('SIGKILL')));
  });
  async function startAgain(part: Exclude<Part, 'database'>): Promise<void> {
    if (part !== 'api') await endLeases(database);
    // A process whose database is killed during its start exits, and its supervisor restarts it.
    running[part] = await until(`the ${part} starts`, () => start(part === 'api' ? 'api' : 'worker'));
  }
  const workers = ['worker', 'other worker'] as const;
  const owned = parts.move();
  return {
    database,
    proxy,
    get url() {
      return running.api.url;
    },
    async crash(part, awayMs) {
      await (part === 'database' ? server.kill() : running[part].end('SIGKILL'));
      await pause(awayMs);
      await (part === 'database' ? server.restart() : startAgain(part));
    },
    async endWorkers() {
      await Promise.all(workers.map((part) => running[part].end('SIGKILL')));
    },
    async startWorkers() {
      await Promise.all(workers.map(startAgain));
    },
    async startDoomed(role, plan) {
      const environment = { ...environmentOf(role), [crashVariable]: JSON.stringify(plan) };
      const child = startFile({ file: 'e2e/memory-crashes/step-process.ts', environment });
      const { listening } = JSON.parse(await child.listens('a replica')) as { readonly listening: string };
      return { ...child, url: listening };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/**
 * Makes open events due now, by expiring the leases and retry pauses of killed workers. This also ends the claim of the
 * running worker, whose writes must then be refused.
 */
export async function endLeases({ sql }: Database): Promise<void> {
  await until('the database answers', async () => {
    await sql`update memory.events set due_at = clock_timestamp() where status in ('PENDING', 'RUNNING')`;
    return true;
  });
}
