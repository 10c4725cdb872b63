import { v7 as uuid } from 'uuid';
import { type Api, createApi } from '#api/create-api';
import { openCallerAuthorizer } from '#identity/open-caller-authorizer';
import type { CallerAuthorizer } from '#identity/tenant-caller';
import { createSemaphore } from '#kit/concurrency/semaphore';
import { createAdminRoutes } from '#kit/http/admin-routes';
import { listen } from '#kit/http/listen';
import { openTokenFile } from '#kit/http/token-file';
import { describeFailure } from '#kit/log/describe-failure';
import { createLogger, type Logger } from '#kit/log/logger';
import { followProfiles } from '#models/approved-profiles';
import { countTokens } from '#models/count-tokens';
import { createGatewayModels } from '#models/gateway-models';
import type { Models } from '#models/ports';
import type { ObjectStore } from '#objects/ports';
import type { HintQueue } from '#queue/ports';
import { openRelations } from '#relations/adapters/open-relations';
import type { Relations } from '#relations/ports';
import { analyse } from '#search/analysis/analyse';
import { awaitDatabase } from '#sql/await-database';
import { connectSql, type Database, passwordFrom } from '#sql/connect';
import { migrate } from '#sql/migrate';
import { removeContents } from './collections/remove-contents.ts';
import type { RetrievalConfig, RetrievalSecrets } from './config.ts';
import { errorOf } from './http/error-of.ts';
import { createServiceAuthorizer, internalTable } from './http/internal-table.ts';
import { openApiPath, retrievalDocument } from './http/openapi-document.ts';
import type { Retrieval } from './http/retrieval.ts';
import { retrievalTable } from './http/retrieval-table.ts';
import { preparedHints, startPreloading } from './index/start-preloading.ts';
import { openDocumentGuard } from './ingest/guard/open-document-guard.ts';
import type { ContentFetcher, DocumentGuard } from './ingest/ports.ts';
import { type IngestTimes, ingestTimes, jobHints, startIngest } from './ingest/role/start-ingest.ts';
import { failedDependency } from './monitoring/failed-dependency.ts';
import { readHealth } from './monitoring/health.ts';
import { createRetrievalMetrics, type RetrievalMetrics } from './monitoring/metrics.ts';
import { readBacklog } from './monitoring/read-backlog.ts';
import { type OpenedIndex, openFetcher, openIndex, openObjects, openQueue } from './open-stores.ts';

/** Replacements for tests. */
export type RetrievalOverrides = {
  readonly logger?: Logger;
  readonly models?: Models;
  readonly objects?: ObjectStore;
  readonly queue?: HintQueue;
  readonly wrapRelations?: (relations: Relations) => Relations;
  /** Ends the wait for a database that does not answer. */
  readonly signal?: AbortSignal;
  readonly times?: Partial<IngestTimes>;
};

type RetrievalService = AsyncDisposable & {
  /** Origin for clients of the API; undefined for a process that only works. */
  readonly url: string | undefined;
  /** Origin for managers of collections; undefined where it is not configured. */
  readonly internalUrl: string | undefined;
  /** Origin of /livez, /readyz and /metrics. */
  readonly adminUrl: string;
};

const databaseWait = { timeoutMs: 90_000, everyMs: 250 } as const;
/** Fewer than the connections of the pool. */
const creationsAtOnce = 2;
const drainMs = 15_000;
const idleMs = 2_000;
const server = { headersTimeoutMs: 10_000, keepAliveTimeoutMs: 65_000, maxHeaderBytes: 32_768 } as const;
const migrations = new URL('./migrations/', import.meta.url);

/** Composes one replica. Disposing drains: requests in flight finish, then the worker, then the connections. */
export async function createRetrievalService(
  config: RetrievalConfig,
  secrets: RetrievalSecrets,
  overrides: RetrievalOverrides = {},
): Promise<RetrievalService> {
  await using parts = new AsyncDisposableStack();
  const logger = overrides.logger ?? createLogger({ service: 'retrieval', level: config.logLevel });
  const metrics = createRetrievalMetrics();
  const database = parts.use(openDatabase(config, secrets));
  await awaitDatabase(database, {
    ...databaseWait,
    signal: overrides.signal,
    onUnavailable: (reason) => logger.warn('database_away', { reason }),
  });
  await migrate(database, { schema: 'retrieval', folder: migrations });
  const stored = parts.use(await openRelations(config.relations, database, secrets.openFgaTokenFile));
  const relations = overrides.wrapRelations?.(stored) ?? stored;
  const profiles = parts.use(await openProfiles(config, { logger, metrics }));
  const objects = overrides.objects ?? parts.use(await openObjects(config.stores));
  const models = overrides.models ?? parts.use(openModels(config, secrets));
  const dimensionsOf = (id: string): number | undefined => profiles.current().embedding.get(id)?.dimension;
  const search = await openIndex(config.stores, { database, mostBytes: config.indexBytes, dimensionsOf }, parts);
  const queue = overrides.queue ?? parts.use(openQueue(config.stores, database));
  const retrieval: Retrieval = {
    database,
    relations,
    objects,
    models,
    index: search.index,
    analyse,
    countTokens,
    profiles: profiles.current,
    defaultEmptyAclPolicy: config.emptyAclPolicy,
    tenantQuota: config.tenantQuota,
    creations: createSemaphore(creationsAtOnce),
    newId: uuid,
    hint: jobHints(queue, logger),
    health: () =>
      readHealth({
        database,
        objects,
        adapters: {
          queue: config.stores.nats === undefined ? 'postgres' : 'nats',
          objects: config.stores.objects.kind,
          search: search.name,
        },
        queueAnswers: () => queue.publish('health'),
        searchAnswers: search.answers,
      }),
  };
  if (config.role !== 'api') {
    const guard = await openGuard(config, parts, { logger, metrics });
    const onRefused = (isRefused: boolean): void => metrics.fileRefused('content_sources', isRefused);
    const fetcher = await openFetcher(config.stores, parts, { logger, onRefused });
    parts.use(startWorker(retrieval, config, { logger, metrics, overrides, queue, guard, fetcher, search }));
  }
  if (config.role !== 'worker') {
    parts.use(startPreloading({ database, index: search.preloaded, queue, logger, replica: uuid() }));
  }
  const readiness = { isWithdrawn: false };
  const problems = (): Promise<readonly string[]> => problemsOf(database, readiness.isWithdrawn);
  const beforeScrape = async (): Promise<void> => metrics.backlog(await readBacklog(database).catch(() => undefined));
  const admin = parts.use(
    await listen({
      ...server,
      ...config.adminListen,
      fetch: createAdminRoutes({ registry: metrics.registry, problems, beforeScrape }).fetch,
    }),
  );
  const url = config.role === 'worker' ? undefined : await serve();
  const internalUrl = config.role === 'worker' ? undefined : await serveInternal();
  parts.defer(() => {
    readiness.isWithdrawn = true;
  });
  logger.info('listening', { url, admin: admin.url });
  const owned = parts.move();
  return { url, internalUrl, adminUrl: admin.url, [Symbol.asyncDispose]: () => owned.disposeAsync() };

  async function serve(): Promise<string> {
    const authorizer = await openCallerAuthorizer(config.identity, { logger, onUnavailable: metrics.keysUnavailable });
    const api = createRetrievalApi(retrieval, { authorizer, metrics, logger });
    const onHandlerError = (): void => logger.error('handler_failed', {});
    const clients = await listen({ ...server, ...config.listen, ...api, onHandlerError });
    parts.defer(() => clients.drain({ graceMs: drainMs, idleMs }));
    return clients.url;
  }

  async function serveInternal(): Promise<string | undefined> {
    const { internal } = config;
    if (internal === undefined) return undefined;
    const authorizer = createServiceAuthorizer(openTokenFile(internal.tokenFile));
    const onHandlerError = (): void => logger.error('handler_failed', {});
    const api = createInternalApi(retrieval, authorizer, logger);
    const managers = await listen({ ...server, ...internal.listen, ...api, onHandlerError });
    parts.defer(() => managers.drain({ graceMs: drainMs, idleMs }));
    return managers.url;
  }
}

type Tools = { readonly logger: Logger; readonly metrics: RetrievalMetrics };
type WorkerTools = Tools & {
  readonly overrides: RetrievalOverrides;
  readonly queue: HintQueue;
  readonly guard: DocumentGuard | 'unguarded';
  readonly fetcher: ContentFetcher;
  readonly search: OpenedIndex;
};

function createRetrievalApi(
  service: Retrieval,
  { authorizer, metrics, logger }: Tools & { readonly authorizer: CallerAuthorizer },
): Api {
  return createApi({
    table: retrievalTable,
    service,
    authorizer,
    errorOf: (error) => {
      const code = errorOf(error);
      const dependency = failedDependency(error);
      if (dependency !== undefined) metrics.dependencyFailed(dependency);
      if (code !== undefined) logger.warn('dependency_failed', { code, failure: describeFailure(error) });
      return code;
    },
    onEnded({ operation, code, seconds, traceId }) {
      metrics.ended(operation, code, seconds);
      logger.info('request_ended', { operation, code, traceId, durationMs: Math.round(seconds * 1_000) });
    },
    onInternalError: (operation, error) =>
      logger.error('operation_failed', { operation, failure: describeFailure(error) }),
    documents: { [openApiPath]: Buffer.from(JSON.stringify(retrievalDocument())) },
  });
}

function createInternalApi(
  service: Retrieval,
  authorizer: ReturnType<typeof createServiceAuthorizer>,
  logger: Logger,
): Api {
  return createApi({
    table: internalTable,
    service,
    authorizer,
    errorOf: (error) => {
      const code = errorOf(error);
      if (code !== undefined) logger.warn('dependency_failed', { code, failure: describeFailure(error) });
      return code;
    },
    onEnded: ({ operation, code, seconds, traceId }) =>
      logger.info('request_ended', { operation, code, traceId, durationMs: Math.round(seconds * 1_000) }),
    onInternalError: (operation, error) =>
      logger.error('operation_failed', { operation, failure: describeFailure(error) }),
  });
}

async function openGuard(
  { guard }: RetrievalConfig,
  parts: AsyncDisposableStack,
  { logger, metrics }: Tools,
): Promise<DocumentGuard | 'unguarded'> {
  const onRefused = (isRefused: boolean): void => metrics.fileRefused('guard_target', isRefused);
  if (guard !== 'unguarded') return parts.use(await openDocumentGuard({ ...guard, logger, onRefused }));
  logger.warn('documents_unguarded', {});
  return guard;
}

function startWorker(
  { database, objects, models, profiles, relations }: Retrieval,
  { ingestConcurrency }: RetrievalConfig,
  { logger, metrics, overrides, queue, guard, fetcher, search }: WorkerTools,
): AsyncDisposable {
  const ports = {
    database,
    objects,
    models,
    fetcher,
    guard,
    profileOf: (id: string) => profiles().embedding.get(id),
    analyse,
    countTokens,
    onStep: metrics.stepCompleted,
    hintPrepared: preparedHints(queue, logger),
    onUnavailable: metrics.dependencyFailed,
  } as const;
  const { dropPartition, clearLeft } = search;
  return startIngest(ports, {
    logger,
    queue,
    concurrency: ingestConcurrency,
    onAttempt: metrics.attemptEnded,
    dropPartition,
    removals: [() => removeContents({ database, objects, relations, dropPartition }), clearLeft],
    onRemovalFailed: (error) => {
      const dependency = failedDependency(error);
      if (dependency !== undefined) metrics.dependencyFailed(dependency);
    },
    times: { ...ingestTimes, ...overrides.times },
  });
}

function openProfiles({ modelsFile }: RetrievalConfig, { logger, metrics }: Tools) {
  return followProfiles({
    path: modelsFile,
    onTaken({ embedding, rerank, rewrite }) {
      metrics.fileRefused('models', false);
      logger.info('profiles_taken', { embedding: embedding.size, rerank: rerank.size, rewrite: rewrite.size });
    },
    onRefused(problems) {
      metrics.fileRefused('models', true);
      logger.warn('profiles_refused', { problems: problems.length });
    },
  });
}

function openModels({ modelGateway }: RetrievalConfig, { modelGatewayTokenFile }: RetrievalSecrets): Models {
  const tokenFile = modelGatewayTokenFile === undefined ? {} : { tokenFile: openTokenFile(modelGatewayTokenFile) };
  return createGatewayModels({ url: modelGateway, ...tokenFile });
}

function openDatabase({ databaseUrl }: RetrievalConfig, { databasePasswordFile }: RetrievalSecrets): Database {
  return connectSql({
    url: databaseUrl,
    applicationName: 'portcullis-retrieval',
    password: passwordFrom(databasePasswordFile),
  });
}

async function problemsOf({ sql }: Database, isWithdrawn: boolean): Promise<readonly string[]> {
  if (isWithdrawn) return ['this process is shutting down'];
  return sql`select 1`.then(
    () => [],
    () => ['the database does not answer'],
  );
}
