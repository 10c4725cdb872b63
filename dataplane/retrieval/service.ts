import { v7 as uuid } from 'uuid';
import { serveApi } from '#api/serve-api';
import { openServiceAudit } from '#audit/adapters/open-service-audit';
import { watchedAudit } from '#audit/adapters/postgres/postgres-audit';
import { createRefusalRecorder } from '#audit/record-refusals';
import { openStorageGuard } from '#checks/guard/open-storage-guard';
import { evaluationLimits } from '#contracts/retrieval-evaluation';
import { openCallerAuthorizer } from '#identity/open-caller-authorizer';
import { createSemaphore } from '#kit/concurrency/semaphore';
import { Turns } from '#kit/concurrency/turns';
import { createByteBudget } from '#kit/http/byte-budget';
import { serveProbes } from '#kit/http/serve-probes';
import { openTokenFile } from '#kit/http/token-file';
import { describeFailure } from '#kit/log/describe-failure';
import { createLogger, type Logger } from '#kit/log/logger';
import { systemClock } from '#kit/time/clock';
import { openSpans } from '#kit/trace/export-spans';
import { followProfiles } from '#models/approved-profiles';
import { countTokens, countTokensInTurns } from '#models/count-tokens';
import { openGatewayModels } from '#models/gateway-models';
import type { Models } from '#models/ports';
import type { ObjectStore } from '#objects/ports';
import type { HintQueue } from '#queue/ports';
import { openRelations, relationTables } from '#relations/adapters/open-relations';
import type { Relations } from '#relations/ports';
import { analyse, analyseQuery } from '#search/analysis/analyse';
import { openServiceDatabase } from '#sql/open-service-database';
import { openServiceReadiness } from '#sql/service-readiness';
import { createRelationChanges } from './access/change-relations.ts';
import { moveSettling } from './access/settle-moves.ts';
import { removeContents } from './collections/remove-contents.ts';
import type { RetrievalConfig, RetrievalSecrets } from './config.ts';
import { errorOf } from './http/error-of.ts';
import { createServiceAuthorizer, internalTable } from './http/internal-table.ts';
import { createRefusedChangeNotes, createRefusedManagerNotes } from './http/note-refused-changes.ts';
import { openApiPath, retrievalDocument } from './http/openapi-document.ts';
import type { Retrieval } from './http/retrieval.ts';
import { retrievalTable } from './http/retrieval-table.ts';
import { preparedHints, startPreloading } from './index/start-preloading.ts';
import { createDocumentGuard } from './ingest/guard/document-guard.ts';
import type { ContentFetcher, DocumentGuard } from './ingest/ports.ts';
import { type IngestTimes, ingestTimes, jobHints, startIngest } from './ingest/role/start-ingest.ts';
import { readHealth } from './monitoring/health.ts';
import { createRetrievalMetrics, type RetrievalMetrics } from './monitoring/metrics.ts';
import { readBacklog } from './monitoring/read-backlog.ts';
import { readIndexState } from './monitoring/read-index-state.ts';
import { type OpenedIndex, openFetcher, openIndex, openObjects, openQueue } from './open-stores.ts';
import { wholeTextLimits } from './pack/read-whole-texts.ts';

/** Replacements for parts of the service in tests. */
export type RetrievalOverrides = {
  readonly logger?: Logger;
  readonly models?: Models;
  readonly objects?: ObjectStore;
  readonly queue?: HintQueue;
  readonly wrapRelations?: (relations: Relations) => Relations;
  /** Aborts the wait for a database that does not answer. */
  readonly signal?: AbortSignal;
  readonly times?: Partial<IngestTimes>;
  readonly evaluationMs?: number;
  readonly wrapCounter?: (countTokens: Retrieval['countTokens']) => Retrieval['countTokens'];
  /** Time between two looks for lost tables, milliseconds. */
  readonly tablesMs?: number;
};

type RetrievalService = AsyncDisposable & {
  /** Origin for clients of the API; undefined for a process with the worker role only. */
  readonly url: string | undefined;
  /** Base URL for managers of collections; undefined if it is not configured. */
  readonly internalUrl: string | undefined;
  /** Origin of /livez, /readyz and /metrics. */
  readonly adminUrl: string;
};

/** This number is smaller than the number of connections of the pool. */
const creationsAtOnce = 2;
const service = 'retrieval';
const migrations = new URL('./migrations/', import.meta.url);

/** Composes one replica. Disposing drains it in this order: requests in flight, the worker, the connections. */
export async function createRetrievalService(
  config: RetrievalConfig,
  secrets: RetrievalSecrets,
  overrides: RetrievalOverrides = {},
): Promise<RetrievalService> {
  await using parts = new AsyncDisposableStack();
  const logger = overrides.logger ?? createLogger({ service, level: config.logLevel });
  const metrics = createRetrievalMetrics();
  const database = parts.use(
    await openServiceDatabase({
      service,
      url: config.databaseUrl,
      passwordFile: secrets.databasePasswordFile,
      migrations,
      logger,
      signal: overrides.signal,
    }),
  );
  const clock = systemClock;
  const { audit, exported } = await openServiceAudit(config, parts, {
    chain: service,
    database,
    metrics: metrics.auditExport,
    clock,
    logger,
  });
  const onAuditFailure = (error: unknown, traceId: string | null): void =>
    logger.warn('audit_not_written', { traceId: traceId ?? undefined, failure: describeFailure(error) });
  const refusals = parts.use(createRefusalRecorder({ log: audit, clock, onFailure: onAuditFailure }));
  const stored = parts.use(await openRelations(config.relations, database, secrets.openFgaTokenFile));
  const relations = overrides.wrapRelations?.(stored) ?? stored;
  const profiles = parts.use(await openProfiles(config, { logger, metrics }));
  const objects = overrides.objects ?? parts.use(await openObjects(config.stores));
  const models = overrides.models ?? parts.use(openGatewayModels(config.modelGateway, secrets.modelGatewayTokenFile));
  const dimensionsOf = (id: string): number | undefined => profiles.current().embedding.get(id)?.dimension;
  const search = await openIndex(config.stores, { database, mostBytes: config.indexBytes, dimensionsOf }, parts);
  const queue = overrides.queue ?? parts.use(openQueue(config.stores, database));
  const turns = new Turns();
  const countInTurns: Retrieval['countTokens'] = (text, most) => countTokensInTurns(text, turns, most);
  const retrieval: Retrieval = {
    database,
    relations,
    relationChanges: createRelationChanges({ database, relations, audit }, logger),
    objects,
    models,
    index: search.index,
    analyse: analyseQuery,
    countTokens: overrides.wrapCounter?.(countInTurns) ?? countInTurns,
    turns,
    wholeTexts: createByteBudget({ limit: wholeTextLimits.bytes, largest: wholeTextLimits.ofRequest, waitMs: 10_000 }),
    profiles: profiles.current,
    defaultEmptyAclPolicy: config.emptyAclPolicy,
    tenantQuota: config.tenantQuota,
    mostIndexBytes: config.stores.openSearch === undefined ? config.indexBytes : undefined,
    onLimitReached: metrics.limitReached,
    creations: createSemaphore(creationsAtOnce),
    evaluationMs: overrides.evaluationMs ?? evaluationLimits.durationMs,
    newId: uuid,
    audit,
    clock,
    hint: jobHints({ queue, logger, onQueueAway: () => metrics.dependencyFailed('queue') }),
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
  const spans = openSpans(config.traces, parts, { service: 'portcullis-retrieval', logger });
  const readiness = parts.use(
    openServiceReadiness(database, {
      service,
      schemas: [{ schema: service, folder: migrations }, watchedAudit(service), relationTables(config.relations)],
      logger,
      everyMs: overrides.tablesMs,
    }),
  );
  const admin = parts.use(
    await serveProbes({
      listen: config.adminListen,
      registry: metrics.registry,
      problems: readiness.problems,
      async beforeScrape() {
        metrics.backlog(readiness.isComplete() ? await readBacklog(database).catch(() => undefined) : undefined);
        await exported.measure();
        if (search.held === undefined) return;
        metrics.indexHeld(await readIndexState(database, search.held).catch(() => undefined));
      },
    }),
  );
  const url = config.role === 'worker' ? undefined : await serve();
  const internalUrl = config.role === 'worker' ? undefined : await serveInternal();
  parts.defer(readiness.withdraw);
  logger.info('listening', { url, admin: admin.url });
  const owned = parts.move();
  return { url, internalUrl, adminUrl: admin.url, [Symbol.asyncDispose]: () => owned.disposeAsync() };

  async function serve(): Promise<string> {
    const authorizer = await openCallerAuthorizer(config.identity, { logger, onUnavailable: metrics.keysUnavailable });
    const api = await serveApi({
      listen: config.listen,
      table: retrievalTable,
      service: retrieval,
      authorizer,
      errorOf,
      onError: metrics.requestFailed,
      onRefused: createRefusedChangeNotes(refusals),
      logger,
      metrics,
      spans,
      documents: { [openApiPath]: retrievalDocument() },
    });
    return parts.use(api).url;
  }

  async function serveInternal(): Promise<string | undefined> {
    const { internal } = config;
    if (internal === undefined) return undefined;
    const authorizer = createServiceAuthorizer(openTokenFile(internal.tokenFile));
    const managers = await serveApi({
      listen: internal.listen,
      table: internalTable,
      service: retrieval,
      authorizer,
      errorOf,
      onRefused: createRefusedManagerNotes(refusals),
      logger,
      spans,
    });
    return parts.use(managers).url;
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

async function openGuard(
  { guard }: RetrievalConfig,
  parts: AsyncDisposableStack,
  { logger, metrics }: Tools,
): Promise<DocumentGuard | 'unguarded'> {
  const onRefused = (isRefused: boolean): void => metrics.fileRefused('guard_target', isRefused);
  if (guard !== 'unguarded')
    return createDocumentGuard(parts.use(await openStorageGuard({ ...guard, logger, onRefused })));
  logger.warn('documents_unguarded', {});
  metrics.unguarded();
  return guard;
}

function startWorker(
  { database, objects, models, profiles, relations, relationChanges, audit, tenantQuota, mostIndexBytes }: Retrieval,
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
    bounds: { tenantBytes: tenantQuota.bytes, indexBytes: mostIndexBytes },
    analyse,
    countTokens,
    turns: new Turns(),
    onStep: metrics.stepCompleted,
    hintPrepared: preparedHints(queue, logger),
    onUnavailable: metrics.dependencyFailed,
  } as const;
  const { dropPartition, followChanges, clearLeft } = search;
  return startIngest(ports, {
    logger,
    queue,
    concurrency: ingestConcurrency,
    onQueueAway: () => metrics.dependencyFailed('queue'),
    onAttempt: metrics.attemptEnded,
    dropPartition,
    removals: [
      () => relationChanges.settleLeft(),
      moveSettling({ database, relations, audit }, (collection) => logger.error('move_unreadable', { collection })),
      (signal) => removeContents({ database, objects, relations, relationChanges, dropPartition }, signal),
      followChanges,
      clearLeft,
    ],
    onRemovalFailed: metrics.requestFailed,
    times: { ...ingestTimes, ...overrides.times },
  });
}

function openProfiles({ modelsFile }: RetrievalConfig, { logger, metrics }: Tools) {
  const onRead = (problems: readonly string[]): void => metrics.fileRefused('models', problems.length > 0);
  return followProfiles({ path: modelsFile, logger, onRead });
}
