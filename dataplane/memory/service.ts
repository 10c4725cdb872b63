import { v7 as uuid } from 'uuid';
import { serveApi } from '#api/serve-api';
import { openServiceAudit } from '#audit/adapters/open-service-audit';
import { watchedAudit } from '#audit/adapters/postgres/postgres-audit';
import { openStorageGuard } from '#checks/guard/open-storage-guard';
import { openCallerAuthorizer } from '#identity/open-caller-authorizer';
import { serveProbes } from '#kit/http/serve-probes';
import { describeFailure } from '#kit/log/describe-failure';
import { createLogger, type Logger } from '#kit/log/logger';
import { systemClock } from '#kit/time/clock';
import { openSpans } from '#kit/trace/export-spans';
import { followProfiles } from '#models/approved-profiles';
import { countTokens } from '#models/count-tokens';
import { openGatewayModels } from '#models/gateway-models';
import type { Models } from '#models/ports';
import { vectorsKey } from '#models/vectors-key';
import { createPostgresQueue } from '#queue/adapters/postgres/postgres-queue';
import { keepSubscribed } from '#queue/keep-subscribed';
import type { HintQueue } from '#queue/ports';
import { openPackedIndex } from '#search/adapters/packed/packed-index';
import { analyse } from '#search/analysis/analyse';
import { openServiceDatabase } from '#sql/open-service-database';
import { openServiceReadiness } from '#sql/service-readiness';
import { acceptTokenScheme } from './compatibility/accept-token-scheme.ts';
import { compatibleTable } from './compatibility/compatible-table.ts';
import type { MemoryConfig, MemorySecrets } from './config.ts';
import { failUndelivered } from './events/claim-event.ts';
import { nearestMemories } from './events/nearest-memories.ts';
import type { EventStep } from './events/process-event.ts';
import { runEvents } from './events/run-events.ts';
import type { MemoryGuard } from './facts/guard-stored.ts';
import { maintainMemories } from './facts/maintain-memories.ts';
import { memoryErrorOf } from './http/error-of.ts';
import type { Memory } from './http/memory.ts';
import { memoryDocument, memoryOpenApiPath } from './http/openapi-document.ts';
import { readMemoryHealth } from './monitoring/health.ts';
import { createMemoryMetrics, type MemoryMetrics } from './monitoring/metrics.ts';
import { type EventBacklog, readEventBacklog } from './monitoring/read-backlog.ts';
import { forgetErased } from './people/forget-erased.ts';
import { indexRoomOf } from './people/index-room.ts';
import { memorySource } from './search/memory-source.ts';
import { packMemories } from './search/pack-memories.ts';

/** Times of the memory service, milliseconds. */
type MemoryTimes = {
  /** Longest time that an event waits for its next attempt after its worker died. */
  readonly leaseMs: number;
  /** How often workers poll the table without a notification. */
  readonly pollMs: number;
  /** How often the service searches for expired rows and missing vectors. */
  readonly maintainMs: number;
};

const usualTimes: MemoryTimes = { leaseMs: 90_000, pollMs: 2_000, maintainMs: 15_000 };

/** Replacements for tests. */
export type MemoryOverrides = {
  readonly logger?: Logger;
  readonly models?: Models;
  readonly queue?: HintQueue;
  /** Aborts the wait for a database that does not answer. */
  readonly signal?: AbortSignal;
  readonly times?: Partial<MemoryTimes>;
  /** Time between two looks for lost tables, milliseconds. */
  readonly tablesMs?: number;
  /** A worker calls this function after each step; tests stop the process in it. */
  readonly onStep?: (step: EventStep) => void;
};

type MemoryService = AsyncDisposable & {
  /** Origin for clients of the API; undefined for a process with the worker role only. */
  readonly url: string | undefined;
  /** Origin of /livez, /readyz and /metrics. */
  readonly adminUrl: string;
};

const service = 'memory';
const migrations = new URL('./migrations/', import.meta.url);
/** Topic of hints about new events. */
const eventsTopic = 'memory_events';
/** Topic of hints about erased persons. */
const erasuresTopic = 'memory_erasures';

/** Composes one replica. Disposing drains it in this order: requests in flight, the worker, the connections. */
export async function createMemoryService(
  config: MemoryConfig,
  secrets: MemorySecrets,
  overrides: MemoryOverrides = {},
): Promise<MemoryService> {
  await using parts = new AsyncDisposableStack();
  const logger = overrides.logger ?? createLogger({ service, level: config.logLevel });
  const metrics = createMemoryMetrics();
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
  const profiles = parts.use(
    await followProfiles({
      path: config.modelsFile,
      logger,
      onRead: (problems) => metrics.fileRefused('models', problems.length > 0),
    }),
  );
  const models = overrides.models ?? parts.use(openGatewayModels(config.modelGateway, secrets.modelGatewayTokenFile));
  const queue = overrides.queue ?? parts.use(createPostgresQueue(database));
  const profile = () =>
    config.embeddingProfile === undefined ? undefined : profiles.current().embedding.get(config.embeddingProfile);
  if (profile() === undefined) logger.warn('no_embedding_profile', {});
  const source = memorySource(database);
  const index = parts.use(openPackedIndex({ source, mostBytes: config.indexBytes }));
  const publish = (topic: string): void => {
    queue.publish(topic).catch((error) => logger.warn('memory_hint_lost', { failure: describeFailure(error) }));
  };
  const memory: Memory = {
    database,
    models,
    guard: await openGuard(config, parts, { logger, metrics }),
    index,
    analyse,
    countTokens,
    profile,
    isProfileNamed: config.embeddingProfile !== undefined,
    newId: uuid,
    audit,
    clock,
    quota: config.quota,
    onQuotaReached: metrics.quotaReached,
    room: () => indexRoomOf(config.indexBytes, profile()?.dimension),
    hint: () => publish(eventsTopic),
    announceErasure: () => publish(erasuresTopic),
    onModelsAway: metrics.dependencyFailed,
    health: () => readMemoryHealth({ database, queueAnswers: () => queue.publish('health') }, config),
  };
  parts.use(
    keepSubscribed(queue, erasuresTopic, {
      onHint: () => {
        forgetErased(database, index).catch((error) =>
          logger.warn('memory_erasure_delayed', { failure: describeFailure(error) }),
        );
      },
      onAway: (failure) => logger.warn('memory_queue_unavailable', { failure }),
      everyMs: usualTimes.maintainMs,
    }),
  );
  if (config.role !== 'api') parts.use(startWorker(memory, config, { logger, metrics, overrides, queue }));
  const spans = openSpans(config.traces, parts, { service: 'portcullis-memory', logger });
  const readiness = parts.use(
    openServiceReadiness(database, {
      service,
      schemas: [{ schema: service, folder: migrations }, watchedAudit(service)],
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
        metrics.backlog(readiness.isComplete() ? await readBacklog() : undefined);
        await exported.measure();
      },
    }),
  );
  const url = config.role === 'worker' ? undefined : await serve();
  parts.defer(readiness.withdraw);
  logger.info('listening', { url, admin: admin.url });
  const owned = parts.move();
  return { url, adminUrl: admin.url, [Symbol.asyncDispose]: () => owned.disposeAsync() };

  function readBacklog(): Promise<EventBacklog | undefined> {
    return readEventBacklog(database, profile() !== undefined).catch(() => undefined);
  }

  async function serve(): Promise<string> {
    const onUnavailable = metrics.keysUnavailable;
    const authorizer = acceptTokenScheme(await openCallerAuthorizer(config.identity, { logger, onUnavailable }));
    const api = await serveApi({
      listen: config.listen,
      table: compatibleTable,
      service: memory,
      authorizer,
      errorOf: memoryErrorOf,
      onError: metrics.dependencyFailed,
      logger,
      metrics,
      spans,
      documents: { [memoryOpenApiPath]: memoryDocument() },
    });
    return parts.use(api).url;
  }
}

async function openGuard(
  { guard }: MemoryConfig,
  parts: AsyncDisposableStack,
  { logger, metrics }: Tools,
): Promise<MemoryGuard> {
  const onRefused = (isRefused: boolean): void => metrics.fileRefused('guard_target', isRefused);
  if (guard !== 'unguarded') return parts.use(await openStorageGuard({ ...guard, logger, onRefused }));
  logger.warn('memories_unguarded', {});
  metrics.unguarded();
  return guard;
}

type Tools = { readonly logger: Logger; readonly metrics: MemoryMetrics };

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
      { ...memory, extraction, onStep: overrides.onStep ?? (() => undefined) },
      {
        logger,
        concurrency: eventConcurrency,
        ...times,
        onEnded: metrics.eventEnded,
        onFailed: metrics.dependencyFailed,
      },
    ),
  );
  parts.use(
    maintainMemories(memory, {
      logger,
      everyMs: times.maintainMs,
      failUndelivered: async () => {
        const failed = await failUndelivered(memory.database.sql);
        metrics.undelivered(failed);
        return failed;
      },
      packOne: async () => {
        const profile = memory.profile();
        return (await packMemories(memory.database, profile && vectorsKey(profile))) !== undefined;
      },
      onFailed(part, error) {
        metrics.maintenanceFailed(part);
        metrics.dependencyFailed(error);
      },
    }),
  );
  parts.use(
    keepSubscribed(queue, eventsTopic, {
      onHint: worker.wake,
      onAway: (failure) => logger.warn('memory_queue_unavailable', { failure }),
      everyMs: times.maintainMs,
    }),
  );
  return parts;
}
