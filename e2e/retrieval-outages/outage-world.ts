import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { unusedPort } from '#kit/testing/loopback';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { connectSql, type Database, passwordFrom } from '#sql/connect';
import { type MinioServer, startMinio } from '../retrieval/minio-server.ts';
import { startNats } from '../retrieval/nats-server.ts';
import { type OpenSearchServer, startOpenSearch } from '../retrieval/opensearch-server.ts';
import { poison } from '../retrieval-crashes/crash-documents.ts';
import { startCrashingDatabase } from '../support/crashing-database.ts';
import { digestDimension, digestVector, startEmbeddings } from '../support/embedding-server.ts';
import type { SpawnedServer } from '../support/server-program.ts';
import { type RunningProcess, startProcess } from '../support/start-process.ts';

export type Combination = {
  readonly queue: 'postgres' | 'nats';
  readonly objects: 'folder' | 's3';
  readonly search: 'embedded' | 'opensearch';
};

/** A part that is killed with SIGKILL and restarted on its data. */
type Part = 'api' | 'worker' | 'database' | 'nats' | 'minio' | 'opensearch';

export type OutageWorld = AsyncDisposable & {
  readonly database: Database;
  /** Current origin of the API; a restart may change it. */
  readonly url: string;
  /** The parts of this combination. */
  readonly parts: readonly Part[];
  /** Kills a part, waits, and restarts it. */
  crash(part: Part, awayMs: number): Promise<void>;
  /** The end of the output of the API and the worker. */
  lastLines(): Readonly<Record<'api' | 'worker', string>>;
};

export const outageProfile = 'outages';

/** Starts one API process, one worker process, and the servers of a combination. */
export async function openOutageWorld({ queue, objects, search }: Combination): Promise<OutageWorld> {
  await using owned = new AsyncDisposableStack();
  const folder = owned.use(temporaryFolder()).path;
  const folderOf = (name: string): string => {
    mkdirSync(join(folder, name), { recursive: true });
    return join(folder, name);
  };
  const server = owned.use(await startCrashingDatabase(folderOf('database')));
  const { passwordFile, url: databaseUrl } = server;
  const database = owned.use(
    connectSql({ url: databaseUrl, password: passwordFrom(passwordFile), applicationName: 'outages', max: 4 }),
  );
  const embeddings = owned.use(await startEmbeddings({ vectorOf: digestVector, refusedWord: poison }));
  const modelsFile = join(folder, 'models.yaml');
  const profile = { id: outageProfile, model: 'outages', dimension: digestDimension };
  writeFileSync(modelsFile, JSON.stringify({ embedding: [profile] }));
  const environment: Record<string, string> = {
    PORTCULLIS_IDENTITY: 'development',
    PORTCULLIS_DATABASE_URL: databaseUrl,
    PORTCULLIS_DATABASE_PASSWORD_FILE: passwordFile,
    PORTCULLIS_MODEL_GATEWAY_URL: embeddings.url,
    PORTCULLIS_MODELS_FILE: modelsFile,
    PORTCULLIS_LOG_LEVEL: 'error',
    PORTCULLIS_EXIT_WITH_STDIN: '1',
  };
  let [nats, minio]: [SpawnedServer | undefined, MinioServer | undefined] = [undefined, undefined];
  const [natsPort, minioPort] = [await unusedPort(), await unusedPort()];
  owned.defer(() => nats?.end());
  owned.defer(() => minio?.end());
  if (queue === 'nats') {
    const started = await startNats({ folder: folderOf('nats'), port: natsPort });
    nats = started;
    environment['PORTCULLIS_NATS_URL'] = started.url;
  }
  if (objects === 's3') {
    minio = await startMinio(folderOf('minio'), minioPort);
    const { endpoint, credentials } = minio.options;
    environment['PORTCULLIS_S3_URL'] = endpoint.href;
    environment['PORTCULLIS_S3_BUCKET'] = await minio.createBucket();
    environment['PORTCULLIS_S3_ACCESS_KEY_FILE'] = credentials.accessKeyFile;
    environment['PORTCULLIS_S3_SECRET_KEY_FILE'] = credentials.secretKeyFile;
  } else environment['PORTCULLIS_OBJECTS_DIR'] = folderOf('objects');
  let openSearch: OpenSearchServer | undefined;
  if (search === 'opensearch') {
    openSearch = owned.use(await startOpenSearch());
    environment['PORTCULLIS_OPENSEARCH_URL'] = openSearch.url.href;
  }
  const start = (role: 'api' | 'worker'): Promise<RunningProcess> =>
    startProcess({ file: 'dataplane/retrieval/main.ts', environment: { ...environment, PORTCULLIS_ROLE: role } });
  const running = { api: await start('api'), worker: await start('worker') };
  owned.defer(async () => {
    await Promise.all([running.api.end('SIGKILL'), running.worker.end('SIGKILL')]);
  });
  const crashes: Record<Part, { readonly end: () => Promise<unknown>; readonly start: () => Promise<unknown> }> = {
    api: ofProcess('api'),
    worker: {
      end: () => running.worker.end('SIGKILL'),
      async start() {
        await endClaims(database);
        await ofProcess('worker').start();
      },
    },
    database: { end: server.kill, start: server.restart },
    nats: {
      end: async () => nats?.end(),
      async start() {
        nats = await startNats({ folder: folderOf('nats'), port: natsPort });
      },
    },
    minio: {
      end: async () => minio?.end(),
      async start() {
        minio = await startMinio(folderOf('minio'), minioPort);
      },
    },
    opensearch: {
      end: async () => openSearch?.kill(),
      start: async () => openSearch?.start(),
    },
  };
  const own = owned.move();
  return {
    database,
    get url() {
      return running.api.url;
    },
    parts: [
      ...(['api', 'worker', 'database'] as const),
      ...(queue === 'nats' ? (['nats'] as const) : []),
      ...(objects === 's3' ? (['minio'] as const) : []),
      ...(search === 'opensearch' ? (['opensearch'] as const) : []),
    ],
    async crash(part, awayMs) {
      await crashes[part].end();
      await new Promise((resolve) => setTimeout(resolve, awayMs));
      await crashes[part].start();
    },
    lastLines: () => ({ api: running.api.output().slice(-1_500), worker: running.worker.output().slice(-1_500) }),
    [Symbol.asyncDispose]: () => own.disposeAsync(),
  };

  function ofProcess(role: 'api' | 'worker') {
    return {
      end: () => running[role].end('SIGKILL'),
      async start() {
        running[role] = await start(role);
      },
    };
  }
}

/**
 * Expires the claims and the backoff of jobs and versions: the only worker is killed, and the test skips its lease of a
 * minute.
 */
async function endClaims({ sql }: Database): Promise<void> {
  await until('the database answers', async () => {
    await sql`update retrieval.jobs set due_at = clock_timestamp() where status in ('PENDING', 'RUNNING')`;
    await sql`update retrieval.index_versions set due_at = clock_timestamp() where state = 'building'`;
    return true;
  });
}
