import { v7 as uuid } from 'uuid';
import { serveApi } from '#api/serve-api';
import { openServiceAudit } from '#audit/adapters/open-service-audit';
import { watchedAudit } from '#audit/adapters/postgres/postgres-audit';
import { createRefusalRecorder } from '#audit/record-refusals';
import type { ProviderList } from '#contracts/management';
import type { ManagementErrorCode } from '#contracts/management-errors';
import { classifierProfile, detectorContract } from '#contracts/policy';
import type { ApprovedProvider } from '#contracts/providers';
import { serveProbes } from '#kit/http/serve-probes';
import { openTokenFile, type TokenFile } from '#kit/http/token-file';
import { describeFailure } from '#kit/log/describe-failure';
import { createLogger, type Logger } from '#kit/log/logger';
import { type Clock, systemClock } from '#kit/time/clock';
import { createClient, type KubeClient } from '#kube/client/client';
import { mountedAccess } from '#kube/client/cluster-access';
import { KubeError } from '#kube/client/kube-error';
import { relationTables } from '#relations/adapters/open-relations';
import { RelationsUnavailableError } from '#relations/ports';
import { SqlStatementError, SqlUnavailableError } from '#sql/connect';
import { openServiceDatabase } from '#sql/open-service-database';
import { reportMissingTables } from '#sql/service-readiness';
import { watchTables } from '#sql/watch-tables';
import { watchEnvironment } from '../environment/watch-environment.ts';
import { createGatewayPods } from '../gateways/adapters/pods/gateway-pods.ts';
import { createGatewayProcesses } from '../gateways/adapters/processes/gateway-processes.ts';
import type { GatewayReplicas } from '../gateways/ports.ts';
import { createRevisionRecorder } from '../revisions/record-revision.ts';
import { createRightChanges } from './access/change-rights.ts';
import { grantFirstAdministrators } from './access/grant-first-administrators.ts';
import { type ManagementAccess, openAccess } from './access/open-access.ts';
import { createRightsRecord } from './access/record-rights.ts';
import { startSettlingLeft } from './access/settle-left-changes.ts';
import { createSubjectTurns } from './access/subject-turns.ts';
import { createActivityCollector } from './activity/collect-activity.ts';
import { createProviderTests } from './activity/test-providers.ts';
import { createObservedStates } from './audit/adapters/postgres/observed-states.ts';
import { createRefusalNotes } from './audit/note-refusals.ts';
import { startObservingAgents } from './audit/observe-agents.ts';
import { startObservingBindings } from './audit/observe-bindings.ts';
import type { ObservedAgent, ObservedBinding } from './audit/ports.ts';
import { startObserving } from './audit/record-observed.ts';
import { startManagementCaches } from './caches/management-caches.ts';
import type { ManagementConfig, ManagementSecrets } from './config.ts';
import { openDryRunner } from './dry-runs/open-dry-runner.ts';
import type { Management } from './http/management.ts';
import {
  commonDocument,
  commonDocumentPath,
  managementDocument,
  managementDocumentPath,
} from './http/openapi-documents.ts';
import { accessRules } from './http/operation-rights.ts';
import { servedTable } from './http/served-table.ts';
import { createModelReader } from './models/read-model.ts';
import { readOverview } from './models/read-overview.ts';
import { createManagementMetrics } from './monitoring/metrics.ts';
import { createManagementReadiness } from './monitoring/readiness.ts';
import { createApprovalStore } from './operations/adapters/postgres/approval-store.ts';
import { createFreezeStore } from './operations/adapters/postgres/freeze-store.ts';
import { createOperationLog } from './operations/adapters/postgres/operation-log.ts';
import { createOperationStore } from './operations/adapters/postgres/operation-store.ts';
import { createAdvancePolicy } from './operations/advance-policy.ts';
import { RecordsUnavailableError } from './operations/ports.ts';
import { createGenerationRecorder } from './operations/record-generation.ts';
import { startSettling } from './operations/settle-loop.ts';
import { CheckUnavailableError, createDefinitionChecker } from './policies/check-definition.ts';
import { openJudges } from './policies/open-judges.ts';
import { createQuotas } from './policies/quotas.ts';
import { createCommandTexts } from './purges/adapters/postgres/command-texts.ts';
import { createBegunPurges } from './purges/begun-purges.ts';
import { createRevisionPurges } from './purges/purge-revision.ts';

/** Replacements for tests: authorization, times, and the resource client. */
export type ManagementOverrides = {
  readonly access?: ManagementAccess;
  readonly logger?: Logger;
  readonly leaseMs?: number;
  readonly recoverEveryMs?: number;
  readonly sweepMs?: number;
  readonly duplicateWaitMs?: number;
  readonly clock?: Clock;
  readonly wrapClient?: (client: KubeClient) => KubeClient;
  /** Ends the wait for a database that does not answer. */
  readonly signal?: AbortSignal;
};

export type ManagementService = AsyncDisposable & {
  /** Origin for clients of the API. */
  readonly url: string;
  /** Origin of /livez, /readyz and /metrics. */
  readonly adminUrl: string;
};

/** Lease of a new command; longer than the retries of a command take. */
const leaseMs = 20_000;
const recoverEveryMs = 3_000;
const sweepMs = 15_000;
const duplicateWaitMs = 10_000;
/** Maximum number of concurrent commands of one subject; further commands wait. */
const commandsAtOnce = 2;
const requestTimeoutMs = 5_000;
const slowRefusalMs = 500;
/** The command with which remedies begin. */
const program = 'portcullis';
const service = 'management';
const migrations = new URL('./migrations/', import.meta.url);

/** Composes one replica. Disposing drains it in this order: commands in flight, the loops, the connections. */
export async function createManagementService(
  config: ManagementConfig,
  secrets: ManagementSecrets,
  overrides: ManagementOverrides = {},
): Promise<ManagementService> {
  await using parts = new AsyncDisposableStack();
  const { clock = systemClock } = overrides;
  const logger = overrides.logger ?? createLogger({ service, level: config.logLevel });
  const metrics = createManagementMetrics();
  const environment = parts.use(
    await watchEnvironment({ files: config.environment, logger, metrics: metrics.registry }),
  );
  const approved = () => environment.current().approved;
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
  const { openFgaTokenFile, breakGlassFile } = secrets;
  const onKeysUnavailable = (issuer: string): void => metrics.keysUnavailable(issuer);
  const onBreakGlass = (): void => metrics.breakGlassUsed();
  const access =
    overrides.access ??
    (await openAccess(config, parts, {
      database,
      clock,
      logger,
      onKeysUnavailable,
      onBreakGlass,
      openFgaTokenFile,
      breakGlassFile,
      rules: accessRules,
    }));
  const { authorizer, rights, relations } = access;
  const client = openClient(parts, config, overrides);
  const caches = parts.use(startManagementCaches({ client, logger, clock }));
  const quotas = createQuotas(caches, config.quotas);
  const gateways = parts.use(openGateways(config, { client, clock, logger }));
  const { audit, exported } = await openServiceAudit(config, parts, {
    chain: 'management',
    database,
    metrics: metrics.auditExport,
    clock,
    logger,
  });
  const record = createRightsRecord({ database, relations, audit }, logger);
  await grantFirstAdministrators(database, record, { names: config.administrators, clock, logger });
  const onAuditFailure = (error: unknown, traceId: string | null): void =>
    logger.warn('audit_not_written', { traceId: traceId ?? undefined, failure: describeFailure(error) });
  const refusals = parts.use(createRefusalRecorder({ log: audit, clock, onFailure: onAuditFailure }));
  const store = createOperationStore(database, audit, quotas, (operation) =>
    logger.error('operation_unreadable', { operation }),
  );
  const models = createModelReader({ client, caches, gateways, approved, store, program });
  const revisions = createRevisionRecorder(client, clock);
  const advance = createAdvancePolicy({ client, revisions, caches, store });
  const approvals = createApprovalStore(database, audit);
  const freezes = createFreezeStore(database, audit);
  const usedLeaseMs = overrides.leaseMs ?? leaseMs;
  const commands = {
    client,
    store,
    advance,
    rights,
    approvals,
    freezes,
    clock,
    logger,
    leaseMs: usedLeaseMs,
    requestTimeoutMs,
  };
  const recorder = createGenerationRecorder({ client, revisions, caches, store, advance });
  const times = { recoverMs: overrides.recoverEveryMs ?? recoverEveryMs, sweepMs: overrides.sweepMs ?? sweepMs };
  const rightChanges = createRightChanges({ record, relations, rights, store, clock });
  const settling = parts.use(startSettling(commands, { caches, reader: models }, times));
  const begun = createBegunPurges(database, audit, (purge) => logger.error('purge_unreadable', { purge }));
  const texts = createCommandTexts(database);
  const purges = createRevisionPurges({ database, client, caches, rights, texts, begun, clock });
  for (const left of [record, purges]) parts.use(startSettlingLeft(left, { everyMs: times.recoverMs, logger }));
  const observing = { client, caches, clock, logger };
  const faults = metrics.observingFaults('changes');
  parts.use(startObserving({ ...observing, audit, store, begun, sourceDays: config.auditDays, faults }));
  const agentStates = createObservedStates<ObservedAgent>(database, audit, 'observed_agents');
  parts.use(startObservingAgents({ ...observing, states: agentStates, faults: metrics.observingFaults('agents') }));
  const bindingStates = createObservedStates<ObservedBinding>(database, audit, 'observed_bindings');
  parts.use(
    startObservingBindings({ ...observing, states: bindingStates, faults: metrics.observingFaults('bindings') }),
  );
  const tables = parts.use(
    watchTables(database, {
      schemas: [{ schema: service, folder: migrations }, watchedAudit(service), relationTables(config.relations)],
      onChange: (missing) => reportMissingTables(service, missing, logger),
    }),
  );
  const readiness = createManagementReadiness({ caches, database, metrics, quotas, missingTables: tables.missing });
  const adminToken = openAdminToken(secrets);
  const management: Management = {
    client,
    caches,
    commands,
    turns: createSubjectTurns(commandsAtOnce),
    recorder,
    models,
    providers: () => providerList(approved()),
    approved,
    checkDefinition: createDefinitionChecker(parts.use(openJudges()), () => environment.current()),
    quotas,
    dryRun: openDryRunner(secrets.providerSecretsDirectory, () => environment.current()),
    overview: (reading) => readOverview({ caches, gateways, program }, reading),
    activity: createActivityCollector({ gateways, token: adminToken }),
    providerTests: createProviderTests({ gateways, token: adminToken }),
    settling,
    rightChanges,
    purges,
    approvals,
    freezes,
    operationLog: createOperationLog(database),
    audit,
    developmentPersons: config.developmentPersons,
    newId: uuid,
    duplicateWaitMs: overrides.duplicateWaitMs ?? duplicateWaitMs,
  };
  await caches.synced;
  const admin = parts.use(
    await serveProbes({
      listen: config.adminListen,
      registry: metrics.registry,
      problems: readiness.problems,
      async beforeScrape() {
        await Promise.all([readiness.refresh(), exported.measure()]);
      },
    }),
  );
  const clients = parts.use(
    await serveApi({
      listen: config.listen,
      table: servedTable,
      service: management,
      authorizer,
      errorOf: unavailableCode,
      onRefused: createRefusalNotes(refusals),
      slowRefusalMs,
      logger,
      metrics,
      documents: { [managementDocumentPath]: managementDocument(), [commonDocumentPath]: commonDocument() },
    }),
  );
  parts.defer(caches.endWaits);
  parts.defer(readiness.withdraw);
  logger.info('listening', { url: clients.url, admin: admin.url });
  const owned = parts.move();
  return { url: clients.url, adminUrl: admin.url, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

function openAdminToken({ adminTokenFile }: ManagementSecrets): TokenFile | undefined {
  return adminTokenFile === undefined ? undefined : openTokenFile(adminTokenFile);
}

function unavailableCode(error: unknown): ManagementErrorCode | undefined {
  if (error instanceof KubeError || error instanceof CheckUnavailableError) return 'resources_unavailable';
  const isOfDatabase = error instanceof SqlUnavailableError || error instanceof SqlStatementError;
  if (error instanceof RelationsUnavailableError) return 'authorization_unavailable';
  return isOfDatabase || error instanceof RecordsUnavailableError ? 'records_unavailable' : undefined;
}

function openClient(
  parts: AsyncDisposableStack,
  { api }: ManagementConfig,
  { wrapClient }: ManagementOverrides,
): KubeClient {
  const { url, tokenFile, caFile, namespace, namesUsers } = api;
  const access = mountedAccess({ url: url.href, tokenFile, caFile });
  const client = parts.use(createClient({ ...access, namespace, namesUsers, requestTimeoutMs }));
  return wrapClient?.(client) ?? client;
}

function openGateways(
  { runDirectory }: ManagementConfig,
  pods: Parameters<typeof createGatewayPods>[0],
): GatewayReplicas {
  return runDirectory === undefined ? createGatewayPods(pods) : createGatewayProcesses({ runDirectory });
}

/** The approved external checks as the API shows them: without addresses and secrets, and without model providers. */
function providerList(approved: readonly ApprovedProvider[]): ProviderList {
  return { items: approved.flatMap(externalCheck).toSorted((a, b) => (a.name < b.name ? -1 : 1)) };
}

function externalCheck(entry: ApprovedProvider): ProviderList['items'] {
  const { name } = entry;
  switch (entry.kind) {
    case 'model':
      return [];
    case 'detector':
      return [{ name, kind: 'detector', contract: detectorContract, credentialRef: { name: entry.credential } }];
    case 'classifier':
      return [{ name, kind: 'classifier', profile: classifierProfile, credentialRef: { name: entry.credential } }];
  }
}
