import { v7 as uuid } from 'uuid';
import { type Api, createApi } from '#api/create-api';
import { openCallerAuthorizer } from '#identity/open-caller-authorizer';
import type { CallerAuthorizer } from '#identity/tenant-caller';
import { createAdminRoutes } from '#kit/http/admin-routes';
import { listen } from '#kit/http/listen';
import { openTokenFile } from '#kit/http/token-file';
import { describeFailure } from '#kit/log/describe-failure';
import { createLogger, type Logger } from '#kit/log/logger';
import { followProfiles } from '#models/approved-profiles';
import { countTokens } from '#models/count-tokens';
import { createGatewayModels } from '#models/gateway-models';
import type { Models } from '#models/ports';
import { createPostgresQueue } from '#queue/adapters/postgres/postgres-queue';
import { keepSubscribed } from '#queue/keep-subscribed';
import type { HintQueue } from '#queue/ports';
import { openEmbeddedIndex } from '#search/adapters/embedded/embedded-index';
import { analyse } from '#search/analysis/analyse';
import { awaitDatabase } from '#sql/await-database';
import { connectSql, type Database, passwordFrom } from '#sql/connect';
import { migrate } from '#sql/migrate';
import { acceptTokenScheme } from './compatibility/accept-token-scheme.ts';
import { compatibleTable } from './compatibility/compatible-table.ts';
import type { MemoryConfig, MemorySecrets } from './config.ts';
import { failUndelivered } from './events/claim-event.ts';
import { nearestMemories } from './events/nearest-memories.ts';
import { runEvents } from './events/run-events.ts';
import { maintainMemories } from './facts/maintain-memories.ts';
import { memoryErrorOf } from './http/error-of.ts';
import type { Memory } from './http/memory.ts';
import { memoryDocument, memoryOpenApiPath } from './http/openapi-document.ts';
import { readMemoryHealth } from './monitoring/health.ts';
import { createMemoryMetrics, type MemoryMetrics } from './monitoring/metrics.ts';
import { readEventBacklog } from './monitoring/read-backlog.ts';
import { memorySource } from './search/memory-source.ts';

/** Milliseconds. */
type MemoryTimes = {
  /** Longest time that an event waits for the next attempt after its worker died. */
  readonly leaseMs: number;
  /** How often workers look at the table without a hint. */
  readonly pollMs: number;
  /** How often expired rows and missing vectors are looked for. */
  readonly maintainMs: number;
};

const usualTimes: MemoryTimes = { leaseMs: 90_000, pollMs: 2_000, maintainMs: 15_000 };

/** Replacements for tests. */
export type MemoryOverrides = {
  readonly logger?: Logger;
  readonly models?: Models;
  readonly queue?: HintQueue;
  /** Ends the wait for a database that does not answer. */
  readonly signal?: AbortSignal;
  readonly times?: Partial<MemoryTimes>;
};

type MemoryService = AsyncDisposable & {
  /** Origin for clients of the API; undefined for a process that only works. */
  readonly url: string | undefined;
  /** Origin of /livez, /readyz and /metrics. */
  readonly adminUrl: string;
};

const databaseWait = { timeoutMs: 90_000, everyMs: 250 } as const;
const drainMs = 15_000;
const idleMs = 2_000;
const server = { headersTimeoutMs: 10_000, keepAliveTimeoutMs: 65_000, maxHeaderBytes: 32_768 } as const;
const migrations = new URL('./migrations/', import.meta.url);
/** Topic of hints that there are events. */
const eventsTopic = 'memory_events';

/** Composes one replica. Disposing drains: requests in flight finish, then the worker, then the connections. */
export async function createMemoryService(
  config: MemoryConfig,
  secrets: MemorySecrets,
  overrides: MemoryOverrides = {},
): Promise<MemoryService> {
  await using parts = new AsyncDisposableStack();
  const logger = overrides.logger ?? createLogger({ service: 'memory', level: config.logLevel });
  const metrics = createMemoryMetrics();
  const database = parts.use(
    connectSql({
      url: config.databaseUrl,
      applicationName: 'portcullis-memory',
      password: passwordFrom(secrets.databasePasswordFile),
    }),
  );
  await awaitDatabase(database, {
    ...databaseWait,
    signal: overrides.signal,
    onUnavailable: (reason) => logger.warn('database_away', { reason }),
  });
  await migrate(database, { schema: 'memory', folder: migrations });
  const profiles = parts.use(await openProfiles(config, { logger, metrics }));
  const models = overrides.models ?? parts.use(openModels(config, secrets));
  const queue = overrides.queue ?? parts.use(createPostgresQueue(database));
  const profile = () =>
    config.embeddingProfile === undefined ? undefined : profiles.current().embedding.get(config.embeddingProfile);
  if (profile() === undefined) logger.warn('no_embedding_profile', {});
  const source = memorySource(database, () => profile()?.id);
  const index = parts.use(openEmbeddedIndex({ source, mostBytes: config.indexBytes }));
  const memory: Memory = {
    database,
    models,
    index,
    analyse,
    countTokens,
    profile,
    newId: uuid,
    hint: () => {
      queue.publish(eventsTopic).catch((error) => logger.warn('memory_hint_lost', { failure: describeFailure(error) }));
    },
    health: () => readMemoryHealth({ database, queueAnswers: () => queue.publish('health') }, config),
  };
  if (config.role !== 'api') parts.use(startWorker(memory, config, { logger, metrics, overrides, queue }));
  const readiness = { isWithdrawn: false };
  const admin = parts.use(
    await listen({
      ...server,
      ...config.adminListen,
      fetch: createAdminRoutes({
        registry: metrics.registry,
        problems: () => problemsOf(database, readiness.isWithdrawn),
        beforeScrape: async () => metrics.backlog(await readEventBacklog(database).catch(() => undefined)),
      }).fetch,
    }),
  );
  const url = config.role === 'worker' ? undefined : await serve();
  parts.defer(() => {
    readiness.isWithdrawn = true;
  });
  logger.info('listening', { url, admin: admin.url });
  const owned = parts.move();
  return { url, adminUrl: admin.url, [Symbol.asyncDispose]: () => owned.disposeAsync() };

  async function serve(): Promise<string> {
    const onUnavailable = metrics.keysUnavailable;
    const authorizer = acceptTokenScheme(await openCallerAuthorizer(config.identity, { logger, onUnavailable }));
    const api = createMemoryApi(memory, { authorizer, metrics, logger });
    const onHandlerError = (): void => logger.error('handler_failed', {});
    const clients = await listen({ ...server, ...config.listen, ...api, onHandlerError });
    parts.defer(() => clients.drain({ graceMs: drainMs, idleMs }));
    return clients.url;
  }
}

type Tools = { readonly logger: Logger; readonly metrics: MemoryMetrics };

function createMemoryApi(
  service: Memory,
  { authorizer, metrics, logger }: Tools & { readonly authorizer: CallerAuthorizer },
): Api {
  return createApi({
    table: compatibleTable,
    service,
    authorizer,
    errorOf: (error) => {
      const code = memoryErrorOf(error);
      metrics.requestFailed(error);
      if (code !== undefined) logger.warn('dependency_failed', { code, failure: describeFailure(error) });
      return code;
    },
    onEnded({ operation, code, seconds, traceId }) {
      metrics.ended(operation, code, seconds);
      logger.info('request_ended', { operation, code, traceId, durationMs: Math.round(seconds * 1_000) });
    },
    onInternalError: (operation, error) =>
      logger.error('operation_failed', { operation, failure: describeFailure(error) }),
    documents: { [memoryOpenApiPath]: Buffer.from(JSON.stringify(memoryDocument())) },
  });
}

function startWorker(
  memory: Memory,
  { extractionModel, eventConcurrency }: MemoryConfig,
  { logger, metrics, overrides, queue }: Tools & { readonly overrides: MemoryOverrides; readonly queue: HintQueue },
): AsyncDisposable {
  const times = { ...usualTimes, ...overrides.times };
  const parts = new AsyncDisposableStack();
  const extraction =
    extractionModel === undefined ? undefined : { alias: extractionModel, nearest: nearestMemories(memory) };
  const worker = parts.use(
    runEvents(
      { ...memory, extraction },
      { logger, concurrency: eventConcurrency, ...times, onEnded: metrics.eventEnded },
    ),
  );
  parts.use(
    maintainMemories(memory, {
      logger,
      everyMs: times.maintainMs,
      failUndelivered: () => failUndelivered(memory.database.sql),
    }),
  );
  parts.use(
    keepSubscribed(queue, eventsTopic, {
      onHint: worker.wake,
      onAway: (failure) => logger.warn('memory_queue_away', { failure }),
      everyMs: times.maintainMs,
    }),
  );
  return parts;
}

function openProfiles({ modelsFile }: MemoryConfig, { logger, metrics }: Tools) {
  return followProfiles({
    path: modelsFile,
    onTaken({ embedding }) {
      metrics.profilesRefused(false);
      logger.info('profiles_taken', { embedding: embedding.size });
    },
    onRefused(problems) {
      metrics.profilesRefused(true);
      logger.warn('profiles_refused', { problems: problems.length });
    },
  });
}

function openModels({ modelGateway }: MemoryConfig, { modelGatewayTokenFile }: MemorySecrets): Models {
  const tokenFile = modelGatewayTokenFile === undefined ? {} : { tokenFile: openTokenFile(modelGatewayTokenFile) };
  return createGatewayModels({ url: modelGateway, ...tokenFile });
}

async function problemsOf({ sql }: Database, isWithdrawn: boolean): Promise<readonly string[]> {
  if (isWithdrawn) return ['this process is shutting down'];
  return sql`select 1`.then(
    () => [],
    () => ['the database does not answer'],
  );
}
