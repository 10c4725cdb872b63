import { serveApi } from '#api/serve-api';
import { openStorageGuard } from '#checks/guard/open-storage-guard';
import { serveProbes } from '#kit/http/serve-probes';
import { openTokenFile } from '#kit/http/token-file';
import { createLogger, type Logger } from '#kit/log/logger';
import { type Clock, systemClock } from '#kit/time/clock';
import { openSpans } from '#kit/trace/export-spans';
import { createClient, type KubeClient } from '#kube/client/client';
import { mountedAccess } from '#kube/client/cluster-access';
import { followProfiles } from '#models/approved-profiles';
import { openGatewayModels } from '#models/gateway-models';
import type { Models } from '#models/ports';
import { vectorsKey } from '#models/vectors-key';
import { createNatsLog } from '#queue/adapters/nats/nats-log';
import { openRelations, relationTables } from '#relations/adapters/open-relations';
import type { Relations } from '#relations/ports';
import { openEmbeddedIndex } from '#search/adapters/embedded/embedded-index';
import { openServiceDatabase } from '#sql/open-service-database';
import { openServiceReadiness } from '#sql/service-readiness';
import { openCatalogueAuthorizer } from './access/authorize-caller.ts';
import type { CatalogueConfig, CatalogueSecrets, ResourceAccess } from './config.ts';
import { createLogReceiver } from './events/adapters/log/log-receiver.ts';
import { createWebhookReceiver } from './events/adapters/webhook/webhook-receiver.ts';
import { forgetEvents, relayEvents } from './events/relay-events.ts';
import type { EventsConfig } from './events-config.ts';
import { type AgentFeed, followAgents } from './feed/follow-agents.ts';
import { forgetAgents } from './feed/forget-agents.ts';
import { type CardJudge, createCardJudge, unguardedCards } from './feed/judge-card.ts';
import { isFed } from './feed/write-agent.ts';
import type { Catalogue } from './http/catalogue.ts';
import { catalogueTable } from './http/catalogue-table.ts';
import { catalogueErrorOf } from './http/error-of.ts';
import { createRequestLimiter } from './http/limit-requests.ts';
import { catalogueDocuments } from './http/openapi-document.ts';
import { createCatalogueMetrics } from './monitoring/metrics.ts';
import { readMissingVectors } from './monitoring/read-missing-vectors.ts';
import { readOutbox } from './monitoring/read-outbox.ts';
import { createPageCursors } from './paging/page-cursors.ts';
import { mostAgeSeconds, readFeedAge } from './records/feed-age.ts';
import { agentSource } from './search/agent-source.ts';
import { embedAgents } from './search/embed-agents.ts';
import { createSimilarityFloor } from './search/similarity-floor.ts';

/** Replacements for tests. */
export type CatalogueOverrides = {
  readonly logger?: Logger;
  readonly relations?: Pick<Relations, 'nextObjects' | 'checkEach'>;
  readonly models?: Models;
  readonly resources?: Pick<KubeClient, 'list' | 'watch' | 'get'>;
  readonly clock?: Clock;
  /** How often the feed checks for changes by time, milliseconds. */
  readonly pollMs?: number;
  /** The pause after the first failed delivery of an event, seconds. */
  readonly firstPauseSeconds?: number;
  /** Aborts the wait for a database that does not answer. */
  readonly signal?: AbortSignal;
  /** Interval between two checks for lost tables, milliseconds. */
  readonly tablesMs?: number;
};

type CatalogueService = AsyncDisposable & {
  /** Origin for clients of the API; undefined for a process with the worker role only. */
  readonly url: string | undefined;
  /** Origin of /livez, /readyz and /metrics. */
  readonly adminUrl: string;
};

const service = 'catalogue';
const migrations = new URL('./migrations/', import.meta.url);
const pollMs = 1_000;
/** How long a stream that the relay creates keeps events, hours: as long as the outbox. */
const streamHours = 168;

/** Composes one replica. Disposing drains it in this order: requests in flight, the feed, the connections. */
export async function createCatalogueService(
  config: CatalogueConfig,
  secrets: CatalogueSecrets,
  overrides: CatalogueOverrides = {},
): Promise<CatalogueService> {
  await using parts = new AsyncDisposableStack();
  const { clock = systemClock, logger = createLogger({ service, level: config.logLevel }) } = overrides;
  const every = overrides.pollMs ?? pollMs;
  const metrics = createCatalogueMetrics();
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
  const relations =
    overrides.relations ?? parts.use(await openRelations(config.relations, database, secrets.openFgaTokenFile));
  const profiles = parts.use(
    await followProfiles({
      path: config.modelsFile,
      logger,
      onRead: (problems) => metrics.fileRefused('models', problems.length > 0),
    }),
  );
  const models = overrides.models ?? parts.use(openGatewayModels(config.modelGateway, secrets.modelGatewayTokenFile));
  const profile = () =>
    config.embeddingProfile === undefined ? undefined : profiles.current().embedding.get(config.embeddingProfile);
  if (profile() === undefined) logger.warn('no_embedding_profile', {});
  const source = agentSource(database);
  const index = parts.use(openEmbeddedIndex({ source, mostBytes: config.indexBytes }));
  const cursors = createPageCursors(openTokenFile(secrets.cursorKeyFile), clock);
  let feed: AgentFeed | undefined;
  if (config.api !== undefined) feed = parts.use(openFeed(config.api, await openCards()));
  if (config.api !== undefined) {
    const onEnd = metrics.embeddingEnded;
    parts.use(forgetAgents({ database, logger, pollMs: every }));
    parts.use(embedAgents({ database, models, profile }, { logger, pollMs: every, onEnd }));
  }
  if (config.api !== undefined) {
    parts.use(
      config.events === undefined ? forgetEvents({ database, logger, pollMs: every }) : openRelay(config.events),
    );
  }
  const readiness = parts.use(
    openServiceReadiness(database, {
      service,
      schemas: [
        { schema: service, folder: migrations },
        ...(overrides.relations === undefined ? [relationTables(config.relations)] : []),
      ],
      logger,
      everyMs: overrides.tablesMs,
    }),
  );
  let isFilled = false;
  const problems = async (): Promise<readonly string[]> => {
    const found = await readiness.problems();
    if (found.length > 0) return found;
    isFilled ||= await isFed(database.sql).catch(() => false);
    if (!isFilled) return ['the resources of agents were never read completely'];
    // The API answers even while the feed lags, without interfaces: only a process that does nothing but follow is then
    // not ready.
    const isBehind = config.role === 'worker' && feed !== undefined && feed.ageMs() > mostAgeSeconds * 1_000;
    return isBehind ? ['the resources of agents cannot be followed'] : [];
  };
  const admin = parts.use(
    await serveProbes({
      listen: config.adminListen,
      registry: metrics.registry,
      problems,
      async beforeScrape() {
        metrics.feed(feed);
        metrics.feedAge(await readFeedAge(database.sql).catch(() => undefined));
        metrics.outbox(config.events === undefined ? undefined : await readOutbox(database.sql).catch(() => undefined));
        if (config.api !== undefined) {
          const current = profile();
          const key = current && vectorsKey(current);
          metrics.missingVectors(await readMissingVectors(database.sql, key).catch(() => undefined));
        }
        metrics.databaseAnswers(await database.sql`select 1`.then(readiness.isComplete, () => false));
      },
    }),
  );
  const spans = openSpans(config.traces, parts, { service: 'portcullis-catalogue', logger });
  const limiter = createRequestLimiter(config.requests, clock.now);
  const floor = createSimilarityFloor(models);
  const catalogue: Catalogue = { database, relations, cursors, problems, limiter, index, models, profile, floor };
  const url = config.role === 'worker' ? undefined : await serve();
  parts.defer(readiness.withdraw);
  logger.info('listening', { url, admin: admin.url });
  const owned = parts.move();
  return { url, adminUrl: admin.url, [Symbol.asyncDispose]: () => owned.disposeAsync() };

  async function openCards(): Promise<CardJudge> {
    if (config.guard === 'unguarded') {
      logger.warn('cards_unguarded', {});
      metrics.unguarded();
      return unguardedCards;
    }
    const onRefused = (isRefused: boolean): void => {
      metrics.fileRefused('guard_target', isRefused);
      if (!isRefused) feed?.judgeAgain();
    };
    return createCardJudge(parts.use(await openStorageGuard({ ...config.guard, logger, onRefused })));
  }

  function openFeed({ url, tokenFile, caFile, namespace }: ResourceAccess, cards: CardJudge): AgentFeed {
    const client =
      overrides.resources ??
      parts.use(createClient({ ...mountedAccess({ url: url.href, tokenFile, caFile }), namespace }));
    return followAgents({
      client,
      database,
      logger,
      clock,
      cards,
      acceptsMassRemoval: config.massRemoval === 'accept',
      onChange: metrics.feedChanged,
      pollMs: every,
    });
  }

  function openRelay(events: EventsConfig): AsyncDisposable {
    const receiver = parts.use(
      events.kind === 'nats'
        ? createLogReceiver(createNatsLog(events.nats, streamHours))
        : createWebhookReceiver(events.url, openTokenFile(events.secretFile)),
    );
    const firstPauseSeconds = overrides.firstPauseSeconds ?? 1;
    return relayEvents({
      database,
      receiver,
      source: events.source,
      logger,
      onEnd: metrics.eventEnded,
      pollMs: every,
      firstPauseSeconds,
    });
  }

  async function serve(): Promise<string> {
    const onUnavailable = metrics.keysUnavailable;
    const api = await serveApi({
      listen: config.listen,
      table: catalogueTable,
      service: catalogue,
      authorizer: await openCatalogueAuthorizer(config.identity, { logger, onUnavailable }),
      errorOf: catalogueErrorOf,
      logger,
      metrics,
      spans,
      documents: catalogueDocuments(),
    });
    return parts.use(api).url;
  }
}
