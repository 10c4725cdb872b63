import { type AgentProblem, type AgentState, agentStateLimits } from '#contracts/agent-state';
import { listen } from '#kit/http/listen';
import { describeFailure } from '#kit/log/describe-failure';
import { createLogger, type Logger } from '#kit/log/logger';
import { systemClock } from '#kit/time/clock';
import { openSpans } from '#kit/trace/export-spans';
import type { AgentConfig, AgentSecrets } from './config.ts';
import type { FileTimes } from './files/call-files.ts';
import type { Served } from './http/agent-server.ts';
import { createHandler } from './http/create-handler.ts';
import { createAgentAdmin } from './monitoring/admin-routes.ts';
import { createAgentMetrics } from './monitoring/metrics.ts';
import { RunRing } from './monitoring/run-ring.ts';
import { observeAll, RunSpans } from './monitoring/run-spans.ts';
import { type PreparePauses, prepareAgain } from './prepare-again.ts';
import { type PreparedAgent, prepareAgent } from './prepare-agent.ts';

/** Release of the agent runtime (`agents:version:release`). */
const agentRelease = '2026.3.5';

type AgentService = AsyncDisposable & {
  /** Origin for calls from the gateway. */
  readonly url: string;
  /** Origin of /livez, /readyz, /metrics, /state and /runs. */
  readonly adminUrl: string;
};

/** Replacements for tests. */
type AgentOverrides = {
  readonly logger?: Logger;
  /** How long a run continues while no client reads its events, milliseconds. */
  readonly unwatchedMs?: number;
  /** Times of the check and of the reading of files. */
  readonly fileTimes?: FileTimes;
  /** How long clients with idle connections have to notice the shutdown, milliseconds. */
  readonly idleMs?: number;
  /** Interval at which a policy that has moved is probed, milliseconds. */
  readonly policyProbeMs?: number;
  /** Pauses before a version whose problems can pass is prepared again. */
  readonly pauses?: PreparePauses;
  /** Creates the handler that the startup check calls. */
  readonly checkedHandler?: typeof createHandler;
};

const usualUnwatchedMs = 30_000;
const drainMs = 20_000;
const usualIdleMs = 2_000;
const server = { headersTimeoutMs: 10_000, keepAliveTimeoutMs: 65_000, maxHeaderBytes: 32_768 } as const;
const starting: Served = {
  kind: 'not_ready',
  problems: [{ code: 'starting', message: 'the version is being read and checked' }],
};

const ending: AgentProblem = {
  code: 'shutting_down',
  message: 'the process ends after the calls that it has accepted',
};

/**
 * The process of one version of an agent. It answers health and state requests immediately. The version is served once
 * everything in its bundle was read and the startup check has confirmed each requested capability. If a version has a
 * problem, the process stays alive and not ready (`agents:health:live`), and its state names the problem.
 */
export async function createAgentService(
  config: AgentConfig,
  secrets: AgentSecrets,
  overrides: AgentOverrides = {},
): Promise<AgentService> {
  await using parts = new AsyncDisposableStack();
  const { logger = createLogger({ service: 'agent', level: config.logLevel }) } = overrides;
  const { unwatchedMs = usualUnwatchedMs, idleMs = usualIdleMs, checkedHandler = createHandler } = overrides;
  const { fileTimes, policyProbeMs } = overrides;
  const metrics = createAgentMetrics();
  const ring = new RunRing(systemClock, metrics.runEnded);
  const spans = openSpans(config.traces, parts, { service: 'portcullis-agent', logger });
  let version: PreparedAgent | undefined;
  let isEnding = false;
  const served = (): Served => version?.served ?? starting;
  const state = (): AgentState => stateOf(version, isEnding);
  const { host } = config;

  const routes = createAgentAdmin({ state, metrics, ring });
  const admin = parts.use(await listen({ ...server, host, port: config.adminPort, fetch: routes.fetch }));
  const handler = createHandler({
    served,
    passingProblems: () => version?.passingProblems() ?? [],
    spans,
    onEnded({ operation, code, step, seconds, traceId }) {
      metrics.requestEnded(operation, code, seconds);
      if (operation === 'health') return;
      logger.info('request_ended', { operation, code, step, traceId, durationMs: Math.round(seconds * 1_000) });
    },
  });
  const onHandlerError = (): void => logger.error('handler_failed', {});
  const traffic = parts.use(await listen({ ...server, host, port: config.port, handler, onHandlerError }));
  parts.defer(() => version?.[Symbol.asyncDispose]());
  const prepare = (): Promise<PreparedAgent> =>
    prepareAgent({
      config,
      secrets,
      logger,
      observer: observeAll(ring, new RunSpans(spans)),
      runs: ring,
      spans,
      onTokens: metrics.tokensUsed,
      unwatchedMs,
      fileTimes,
      policyProbeMs,
      checkedHandler,
    });
  const onPrepared = (next: PreparedAgent): void => {
    version = next;
    const { problems } = state();
    for (const { code, capability, message } of problems)
      logger.error('not_ready', { code, capability, problem: message });
  };
  const first = await prepare();
  onPrepared(first);
  const onPreparedAgain = (next: PreparedAgent): void => {
    onPrepared(next);
    if (next.served.kind === 'ready') logger.info('ready', {});
  };
  const onFailed = (error: unknown): void => logger.error('not_prepared', { failure: describeFailure(error) });
  parts.use(prepareAgain({ first, prepare, onPrepared: onPreparedAgain, onFailed, pauses: overrides.pauses }));
  parts.defer(() => {
    isEnding = true;
    return traffic.drain({ graceMs: drainMs, idleMs });
  });
  logger.info('listening', { url: traffic.url, admin: admin.url, ready: state().ready });
  const owned = parts.move();
  return { url: traffic.url, adminUrl: admin.url, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

function stateOf(version: PreparedAgent | undefined, isEnding: boolean): AgentState {
  const served = version?.served ?? starting;
  const { agentId, versionId, digest } = version?.agent?.bundle ?? {};
  const isServed = served.kind === 'ready';
  const card = isServed ? served.server.profiles.card : undefined;
  const own = isServed ? (version?.passingProblems() ?? []) : served.problems;
  const problems = [...(isEnding ? [ending] : []), ...own];
  const failing = version?.failingProviders() ?? [];
  return {
    ...(agentId === undefined ? {} : { agentId, versionId, digest }),
    build: agentRelease,
    ready: problems.length === 0,
    problems,
    capabilities: { ...version?.capabilities },
    ...(card === undefined ? {} : { cardDigest: card.digest }),
    ...(failing.length === 0 ? {} : { failingProviders: failing.slice(0, agentStateLimits.failingProviders) }),
    runs: isServed ? served.server.slots.inUse : 0,
  };
}
