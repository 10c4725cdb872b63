import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { type CheckClient, createCheckClient } from '#checks/client';
import type { ProviderTest } from '#contracts/provider-test';
import { createByteBudget } from '#kit/http/byte-budget';
import { type Listening, listen } from '#kit/http/listen';
import { observeTls } from '#kit/http/observe-tls';
import { openTokenFile } from '#kit/http/token-file';
import { createLogger, type Logger } from '#kit/log/logger';
import { openSpans } from '#kit/trace/export-spans';
import { createClient, type KubeClient } from '#kube/client/client';
import { mountedAccess } from '#kube/client/cluster-access';
import type { Relations } from '#relations/ports';
import type { AgentRoute } from '#resources/agent-route';
import { maxProviderStates } from '#resources/gateway-report';
import { createActivityLog } from './activity/activity-log.ts';
import { noBudgets, type RunBudgets } from './agents/budgets/ports.ts';
import { maxJsonValues } from './chat/read-envelope.ts';
import { bytesPerValue, maxTexts } from './chat/text-bounds.ts';
import { type ClientAdmission, createClientAdmission } from './clients/admit-clients.ts';
import { openClientKeys, openToAll } from './clients/client-keys.ts';
import { composeAgents, type HeldAgents } from './compose-agents.ts';
import type { GatewayConfig, GatewaySecrets } from './config.ts';
import { createGatewayAdmin } from './http/admin.ts';
import { clientFault, createDirectModels, createGatewayApp } from './http/app.ts';
import { maxAnswerBytes } from './http/call-provider.ts';
import { maxBodyMs, maxRequestBytes } from './http/receive-json.ts';
import type { Gateway } from './http/request-context.ts';
import { createGatewayMetrics } from './metrics/gateway-metrics.ts';
import { createProviderProbe, testUpstream } from './providers/probe-provider.ts';
import { watchCheckProviders } from './providers/watch-check-providers.ts';
import { watchProviders } from './providers/watch-providers.ts';
import { kubernetesReports } from './reports/adapters/kubernetes/report-sink.ts';
import { buildReport } from './reports/build-report.ts';
import type { ReportSink } from './reports/ports.ts';
import { writeReports } from './reports/write-reports.ts';
import { kubernetesAgentRoutes, kubernetesRoutes } from './routes/adapters/kubernetes/route-source.ts';
import { followRoutes } from './routes/follow-routes.ts';
import { createRoutePins } from './routes/pin-routes.ts';
import type { OpenRouteSource } from './routes/ports.ts';
import { RouteTable } from './routes/route-table.ts';
import { loadedFirst, watchReadiness } from './routes/watch-readiness.ts';
import { createUpstreamClient } from './upstream/upstream-client.ts';

/** Replacements for tests: the server with the routes, timeouts and limits. */
export type GatewayOverrides = {
  readonly routes?: OpenRouteSource;
  readonly agentRoutes?: OpenRouteSource<AgentRoute>;
  readonly reports?: ReportSink;
  /** A store of rights on agents that replaces the one of the database. */
  readonly rights?: Pick<Relations, 'check' | 'checkerOf'>;
  /** Budgets of runs that replace those of the database. */
  readonly budgets?: RunBudgets;
  /** The age of rights at which a run has them checked again, milliseconds. */
  readonly rightsAgeMs?: number;
  /** The clock of the bounds of requests to agents, milliseconds. */
  readonly requestClock?: () => number;
  readonly logger?: Logger;
  /** The file of the administrators' token, which replaces the one of the settings. */
  readonly adminTokenFile?: string;
  readonly streamIdleMs?: number;
  readonly maxRequestMs?: number;
  readonly maxBodyMs?: number;
  readonly clientIdleMs?: number;
  readonly maxHeldBytes?: number;
  readonly heldWaitMs?: number;
  /** Grace period for requests in flight after the shutdown began, milliseconds. */
  readonly drainMs?: number;
  /**
   * How long idle connections stay open after the start of the shutdown, so that their next answer has `connection:
   * close`.
   */
  readonly idleMs?: number;
};

export type GatewayService = AsyncDisposable & {
  /** Origin for clients of models. */
  readonly url: string;
  /** Origin of /livez, /readyz and /metrics. */
  readonly adminUrl: string;
  isReady(): boolean;
};

/** How long a request waits for bytes that other requests hold, milliseconds. */
const heldWaitMs = 10_000;
/** How long a client may read nothing of an answer before its connection is closed, milliseconds. */
const clientIdleMs = 30_000;
const drainMs = 20_000;
/**
 * How long clients may still send requests on open connections during a shutdown, milliseconds; the answers have
 * `connection: close`.
 */
const idleMs = 2_000;
/** How long interrupted requests may take to send their error, milliseconds. */
const interruptedMs = 2_000;
const server = { headersTimeoutMs: 10_000, keepAliveTimeoutMs: 65_000, maxHeaderBytes: 16_384 } as const;

/**
 * Composes one gateway replica. Disposing drains it: streams may finish within `drainMs`, then they end with an error.
 */
export async function createGatewayService(
  config: GatewayConfig,
  secrets: GatewaySecrets,
  overrides: GatewayOverrides = {},
): Promise<GatewayService> {
  await using parts = new AsyncDisposableStack();
  const logger = overrides.logger ?? createLogger({ service: 'gateway', level: config.logLevel });
  const metrics = createGatewayMetrics();
  const activity = createActivityLog();
  const adminTokenFile = overrides.adminTokenFile ?? secrets.adminTokenFile;
  const adminTokens = adminTokenFile === undefined ? undefined : openTokenFile(adminTokenFile);
  const shutdown = new AbortController();
  const spans = openSpans(config.traces, parts, { service: 'portcullis-gateway', logger });
  const checks = parts.use(
    createCheckClient({
      tokenFile: openTokenFile(secrets.runtimeTokenFile),
      maxInFlight: config.maxChecksPerAddress,
      explain: true,
    }),
  );
  const credentialFile = (name: string): string => join(secrets.credentialsDirectory, name);
  let onAgentChange: HeldRoutes['changed'] = () => undefined;
  const kube = overrides.routes !== undefined && overrides.reports !== undefined ? undefined : connect(parts, config);
  const access = composeAccess(parts, config, credentialFile, overrides);
  const agents =
    config.agents === undefined
      ? undefined
      : await composeAgents(parts, config.agents, {
          ...access,
          checks,
          namespace: config.api.namespace,
          openSource: overrides.agentRoutes ?? kubernetesAgentRoutes(required(kube), logger),
          registry: metrics.registry,
          logger,
          credentialFile,
          rights: overrides.rights,
          budgets: overrides.budgets,
          rightsAgeMs: overrides.rightsAgeMs,
          requestClock: overrides.requestClock,
          shutdown: shutdown.signal,
          spans,
          onChange: (routeChanged) => onAgentChange(routeChanged),
        });
  const routes = holdRoutes(parts, config, overrides, { checks, logger, credentialFile, kube, agents });
  onAgentChange = routes.changed;
  const { table, pins, providers, checks: watchedChecks } = routes;
  const gateway: Gateway = {
    ...access,
    clients: await composeClients(config, agents, logger),
    table,
    pins,
    providers,
    checks: watchedChecks,
    metrics,
    activity,
    budgets: agents?.budgets ?? noBudgets,
    spans,
    logger,
    shutdown: shutdown.signal,
  };
  const testRoute = async (alias: string): Promise<ProviderTest | undefined> => {
    const found = table.lookup(alias);
    return found.kind === 'route' ? testUpstream(found.route.spec.upstream, credentialFile) : undefined;
  };
  const onHandlerError = (): void => logger.error('handler_failed', {});
  const admin = parts.use(
    await listen({
      ...server,
      ...config.adminListen,
      fetch: createGatewayAdmin({
        metrics: metrics.registry,
        isReady: routes.isReady,
        activity,
        testProvider: testRoute,
        adminTokens,
      }).fetch,
    }),
  );
  const clients = await listen({
    ...server,
    ...config.listen,
    tls: observeTls(config.listen.tls, { logger, metrics: metrics.tls }),
    fetch: createGatewayApp(gateway, agents?.handler).fetch,
    direct: createDirectModels(gateway, agents?.handler),
    clientError: clientFault,
    onHandlerError,
  });
  parts.defer(() => drainClients(clients, shutdown, overrides.drainMs ?? drainMs, overrides.idleMs ?? idleMs));
  parts.defer(() => routes.withdraw());
  logger.info('listening', { url: clients.url, admin: admin.url });
  const owned = parts.move();
  return {
    url: clients.url,
    adminUrl: admin.url,
    isReady: routes.isReady,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Authentication of clients. The library that verifies tokens is loaded only if tokens are accepted. */
async function composeClients(
  { clients, agents: served }: GatewayConfig,
  held: HeldAgents | undefined,
  logger: Logger,
): Promise<ClientAdmission> {
  if (clients.auth === 'open') return createClientAdmission(openToAll, undefined);
  const onProblem = (problem: { readonly line: number; readonly problem: string }): void =>
    logger.warn('client_key_refused', problem);
  const keys = openClientKeys(clients.keysFile, { onProblem });
  const issuer = clients.agents?.issuer ?? served?.issuer;
  const jwks =
    clients.agents === undefined ? held && { cache: held.keys.verifierKeys } : { file: clients.agents.keysFile };
  if (issuer === undefined || jwks === undefined) return createClientAdmission(keys, undefined);
  const { createModelTokenVerifier } = await import('#identity/model-token');
  const onUnavailable = (): void => logger.warn('keys_unavailable', { issuer });
  return createClientAdmission(keys, createModelTokenVerifier({ issuer, jwks, onUnavailable }));
}

/** The provider client and the limits of requests. */
function composeAccess(
  parts: AsyncDisposableStack,
  config: GatewayConfig,
  credentialFile: (name: string) => string,
  overrides: GatewayOverrides,
): Pick<Gateway, 'upstream' | 'bytes' | 'maxRequestMs' | 'maxBodyMs' | 'clientIdleMs' | 'streamIdleMs'> {
  const openCredential = (name: string) => openTokenFile(credentialFile(name));
  return {
    upstream: parts.use(createUpstreamClient({ openCredential })),
    bytes: createByteBudget({
      limit: overrides.maxHeldBytes ?? config.maxHeldBytes,
      largest: maxRequestBytes + maxAnswerBytes + (maxJsonValues + maxTexts) * bytesPerValue,
      waitMs: overrides.heldWaitMs ?? heldWaitMs,
    }),
    maxRequestMs: overrides.maxRequestMs ?? config.maxRequestMs,
    maxBodyMs: overrides.maxBodyMs ?? maxBodyMs,
    clientIdleMs: overrides.clientIdleMs ?? clientIdleMs,
    streamIdleMs: overrides.streamIdleMs ?? config.streamIdleMs,
  };
}

type HeldRoutes = {
  readonly table: RouteTable;
  readonly pins: Gateway['pins'];
  readonly providers: Gateway['providers'];
  /** The checks of requests. */
  readonly checks: Gateway['checks'];
  isReady(): boolean;
  /**
   * Notifies the gateway of a change of a route of an agent, or of the stores of its calls. It must be called after
   * each such change.
   */
  changed(routeChanged: boolean): void;
  /** Writes in the gateway's report that the replica is no longer ready. */
  withdraw(): void;
};

function holdRoutes(
  parts: AsyncDisposableStack,
  config: GatewayConfig,
  overrides: GatewayOverrides,
  tools: {
    readonly checks: CheckClient;
    readonly logger: Logger;
    /** Path of the file of a provider credential. */
    readonly credentialFile: (name: string) => string;
    readonly kube: KubeClient | undefined;
    readonly agents: HeldAgents | undefined;
  },
): HeldRoutes {
  const { checks, logger, credentialFile, kube, agents } = tools;
  const openSource = overrides.routes ?? kubernetesRoutes(required(kube), logger);
  const sink = overrides.reports ?? kubernetesReports(required(kube), config);
  const bootId = randomUUID();
  const table = new RouteTable(config.api.namespace);
  const pins = createRoutePins(table, () => reports.changed(false));
  const readiness = watchReadiness(loadedFirst(table, agents), () => reports.changed(false));
  const reports = writeReports({
    sink,
    logger,
    build: () =>
      buildReport({
        gateway: config.gateway,
        bootId,
        ready: readiness.mayServe(),
        appliedThrough: routes.throughVersion(),
        state: table.state(),
        inUse: pins.inUse(),
        ...(agents === undefined ? {} : { agents: agents.report() }),
        providers: [...checkProviders.state(), ...providers.state()].slice(0, maxProviderStates),
      }),
  });
  const providers = watchProviders({
    upstreams: () =>
      table
        .state()
        .taken.filter(({ spec }) => spec.state === 'Enabled')
        .map(({ spec }) => spec.upstream),
    probe: createProviderProbe(credentialFile),
    onChange: () => reports.changed(false),
    logger,
  });
  const checkProviders = watchCheckProviders({
    checks,
    routes: () => table.state().taken,
    onChange: () => reports.changed(false),
    logger,
  });
  const routes = followRoutes({
    gateway: config.gateway,
    table,
    openSource,
    checks,
    logger,
    onChange: (seen) => {
      readiness.look();
      providers.look();
      checkProviders.look();
      reports.changed(seen);
    },
  });
  parts.use(reports);
  parts.use(routes);
  parts.use(readiness);
  parts.use(providers);
  parts.use(checkProviders);
  let announced = false;
  void reports.readyWritten.then(() => {
    announced = true;
    logger.info('ready', { bootId });
  });
  return {
    table,
    pins,
    providers,
    checks: checkProviders.checks,
    isReady: () => announced && readiness.mayServe(),
    changed(routeChanged) {
      readiness.look();
      reports.changed(routeChanged);
    },
    withdraw: () => readiness.withdraw(),
  };
}

function connect(parts: AsyncDisposableStack, config: GatewayConfig): KubeClient {
  const { url, tokenFile, caFile, namespace } = config.api;
  return parts.use(createClient({ ...mountedAccess({ url: url.href, tokenFile, caFile }), namespace }));
}

function required(kube: KubeClient | undefined): KubeClient {
  if (kube === undefined)
    throw new Error('the gateway was composed without a resource server: routes and reports need one');
  return kube;
}

/** Requests in flight may finish within the grace period; the remaining ones are interrupted and end with an error. */
async function drainClients(
  clients: Listening,
  shutdown: AbortController,
  graceMs: number,
  keptMs: number,
): Promise<void> {
  const timer = setTimeout(() => shutdown.abort(), graceMs);
  await clients.drain({ graceMs: graceMs + interruptedMs, idleMs: keptMs });
  clearTimeout(timer);
}
