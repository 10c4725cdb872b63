import type { CheckClient } from '#checks/client';
import { createAgentCallVerifier } from '#identity/agent-call-token';
import { createConnectionTokenVerifier } from '#identity/connection-token';
import { type GatewayKeyRing, openGatewayKeyRing } from '#identity/gateway-key-ring';
import { openIssuersVerifier } from '#identity/open-issuers-verifier';
import { createRunGrantVerifier } from '#identity/run-grant';
import { startWorkLoop } from '#kit/concurrency/work-loop';
import type { Logger } from '#kit/log/logger';
import type { Metrics } from '#kit/metrics/metrics';
import { awaitRelations, type RelationsAccess } from '#relations/adapters/await-relations';
import type { Relations } from '#relations/ports';
import type { AgentRoute, RoutedVersion } from '#resources/agent-route';
import type { GatewayReportSpec } from '#resources/gateway-report';
import type { OpeningState } from '#sql/open-repeatedly';
import { awaitBudgets } from './agents/budgets/await-budgets.ts';
import { noBudgets, type RunBudgets } from './agents/budgets/ports.ts';
import { type IdentifyCaller, identifyByHeaders, identifyByToken } from './agents/calls/identify-caller.ts';
import { createImageSlots } from './agents/calls/image-slots.ts';
import { createCallerLimiter } from './agents/calls/limit-callers.ts';
import { createRunLimiter } from './agents/calls/limit-runs.ts';
import { type FlowConnections, noConnections, openConnections } from './agents/connections/open-connections.ts';
import { proveGuardrails } from './agents/guard/prove-guardrails.ts';
import { type AgentHandler, createAgentHandler } from './agents/http/agent-handler.ts';
import { createAgentCallMetrics } from './agents/metrics/agent-call-metrics.ts';
import { createConnectionMetrics } from './agents/metrics/connection-metrics.ts';
import { createAgentClient } from './agents/relay/agent-client.ts';
import { AgentTable } from './agents/routes/agent-table.ts';
import { followAgentRoutes } from './agents/routes/follow-agent-routes.ts';
import { createVersionPins } from './agents/routes/pin-versions.ts';
import type { AgentsConfig } from './agents-config.ts';
import type { Gateway } from './http/request-context.ts';
import type { RouteProof } from './routes/follow-proved.ts';
import type { OpenRouteSource } from './routes/ports.ts';

type AgentTools = Pick<Gateway, 'bytes' | 'maxBodyMs' | 'clientIdleMs' | 'shutdown' | 'spans'> & {
  readonly namespace: string;
  readonly checks: CheckClient;
  readonly openSource: OpenRouteSource<AgentRoute>;
  readonly registry: Metrics;
  readonly logger: Logger;
  /** Path of the file of a credential. */
  readonly credentialFile: (name: string) => string;
  /** A store of rights that replaces the one of the settings. */
  readonly rights?: Pick<Relations, 'check' | 'checkerOf'> | undefined;
  /** Budgets that replace those in the settings of the gateway. */
  readonly budgets?: RunBudgets | undefined;
  /** Replaces the age of rights at which a run has them checked again, milliseconds. */
  readonly rightsAgeMs?: number | undefined;
  /** Replaces the clock of the rate limits of requests, milliseconds. */
  readonly requestClock?: (() => number) | undefined;
  /** Called after a change of a route or a store, a probe or the last call of a version. */
  readonly onChange: (routeChanged: boolean) => void;
};

/** A run begins at most this time after the right to start it was confirmed, milliseconds. */
const rightsAgeMs = 1_000;
/** How often versions whose runs have ended are removed from memory, milliseconds. */
const forgetMs = 60_000;

/** The agents that one gateway replica serves. */
export type HeldAgents = {
  readonly table: Pick<AgentTable, 'isComplete' | 'hasPending'>;
  readonly keys: GatewayKeyRing;
  readonly handler: AgentHandler;
  readonly budgets: RunBudgets;
  /** The states of the stores of rights and of budgets in the database. */
  stores(): readonly OpeningState[];
  /** The member `agents` of the report of this replica. */
  report(): NonNullable<GatewayReportSpec['agents']>;
};

/**
 * Follows the routes of agents and creates the components that serve them. @throws ConfigError for a file of issuers
 * that is invalid
 */
export async function composeAgents(
  parts: AsyncDisposableStack,
  config: AgentsConfig,
  tools: AgentTools,
): Promise<HeldAgents> {
  const { issuer } = config;
  const { logger, onChange, bytes, maxBodyMs, clientIdleMs, shutdown, spans } = tools;
  const keys = openGatewayKeyRing(config.signingKeysFile);
  const onUnavailable = (): void => logger.warn('keys_unavailable', { issuer });
  const own = { issuer, jwks: { cache: keys.verifierKeys }, onUnavailable };
  const identify = await identifierOf(config, createAgentCallVerifier(own), logger);
  const states: (() => OpeningState)[] = [];
  const onStore = (): void => onChange(false);
  const relations = tools.rights ?? rightsIn(parts, config.rights, { logger, onChange: onStore, states });
  const table = new AgentTable(tools.namespace);
  const forget = (): Promise<boolean> => {
    table.forgetUnlisted();
    return Promise.resolve(false);
  };
  parts.use(startWorkLoop(forget, { pollMs: forgetMs }));
  const client = parts.use(createAgentClient());
  const pins = createVersionPins(() => onChange(false));
  const { checks } = tools;
  const prove = async (version: RoutedVersion, signal: AbortSignal): Promise<RouteProof> => {
    const proof = await client.prove(version, signal);
    return proof.ok ? await proveGuardrails(checks, version, signal) : proof;
  };
  const routes = parts.use(followAgentRoutes({ table, openSource: tools.openSource, prove, onChange, logger }));
  const connections = await connectionsOf(parts, config, tools);
  const budgets = budgetsIn(parts, config, { ...tools, onChange: onStore, states });
  const handler = createAgentHandler({
    connections,
    connectionTokens: createConnectionTokenVerifier(own),
    connectionMetrics: createConnectionMetrics(tools.registry),
    table,
    pins,
    client,
    checks,
    identify,
    relations,
    keys,
    issuer,
    grants: createRunGrantVerifier(own),
    budgets,
    slots: createImageSlots(),
    reads: createImageSlots(),
    arriving: createImageSlots(),
    readsAtOnce: config.runs.atOnce,
    runs: createRunLimiter(config.runs, () => performance.now()),
    callers: createCallerLimiter(config.runs, tools.requestClock ?? (() => performance.now())),
    rightsAgeMs: tools.rightsAgeMs ?? rightsAgeMs,
    confirmers: new Set(config.confirmers),
    metrics: createAgentCallMetrics(tools.registry),
    spans,
    logger,
    bodies: bytes,
    maxBodyMs,
    clientIdleMs,
    shutdown,
  });
  return {
    table,
    keys,
    handler,
    budgets,
    stores: () => states.map((state) => state()),
    report() {
      const state = table.state();
      const byRoute = (one: { readonly route: string }, other: { readonly route: string }): number =>
        one.route < other.route ? -1 : 1;
      return {
        appliedThrough: routes.throughVersion(),
        pending: state.pending.toSorted(byRoute),
        rejected: state.rejected.toSorted(byRoute),
        inUse: pins.inUse(state).map((used) => ({ ...used })),
      };
    },
  };
}

async function connectionsOf(
  parts: AsyncDisposableStack,
  { connectionsFile: file }: AgentsConfig,
  { credentialFile, logger }: AgentTools,
): Promise<FlowConnections> {
  return file === undefined ? noConnections : parts.use(await openConnections({ file, credentialFile, logger }));
}

async function identifierOf(
  { identity }: AgentsConfig,
  agents: ReturnType<typeof createAgentCallVerifier>,
  logger: Logger,
): Promise<IdentifyCaller> {
  if (identity.mode === 'development') {
    logger.warn('development_identity', {});
    return identifyByHeaders(agents);
  }
  const { verifier } = await openIssuersVerifier(identity.issuersFile, { logger, onUnavailable: () => undefined });
  return identifyByToken(verifier, agents);
}

type StoreTools = {
  readonly logger: Logger;
  readonly onChange: () => void;
  /** Takes the state of the store. */
  readonly states: (() => OpeningState)[];
};

function budgetsIn(
  parts: AsyncDisposableStack,
  { budgets: limits, rights }: AgentsConfig,
  { budgets, logger, onChange, states }: StoreTools & Pick<AgentTools, 'budgets'>,
): RunBudgets {
  if (budgets !== undefined) return budgets;
  if (limits === undefined) return noBudgets;
  const awaited = parts.use(awaitBudgets(rights, limits, logger, { onChange }));
  states.push(awaited.state);
  return awaited;
}

/** The rights of the settings. Until their store is reached, each question throws RelationsUnavailableError. */
function rightsIn(
  parts: AsyncDisposableStack,
  access: RelationsAccess,
  { logger, onChange, states }: StoreTools,
): Pick<Relations, 'check' | 'checkerOf'> {
  const session = { applicationName: 'portcullis-gateway', statementTimeoutMs: 2_000, logger, onChange };
  const awaited = parts.use(awaitRelations(access, session));
  states.push(awaited.state);
  return {
    check: async (...question) => await awaited.now().check(...question),
    checkerOf: (...asker) => awaited.now().checkerOf(...asker),
  };
}
