import { createLogger } from '#kit/log/logger';
import { createMetrics } from '#kit/metrics/metrics';
import { systemClock } from '#kit/time/clock';
import { startCaches } from './caches/caches.ts';
import { actAsLeader } from './composition/act-as-leader.ts';
import { createAgentCounts } from './composition/agent-counts.ts';
import type { Backend, BackendTools, OperatorOverrides } from './composition/backend.ts';
import { createBindingCounts } from './composition/binding-counts.ts';
import { openCluster } from './composition/cluster.ts';
import type { LeadershipLostError } from './composition/leadership.ts';
import type { OperatorConfig } from './composition/operator-config.ts';
import { openStandalone } from './composition/standalone.ts';
import { startControllers } from './composition/start-controllers.ts';
import { serveAdmin } from './http/admin.ts';
import { createReconcileMeter } from './reconcile/reconcile-metrics.ts';

export type { OperatorOverrides } from './composition/backend.ts';

/** A watch without contact for this long is stale: servers end watches sooner. */
const longestSilenceMs = 60_000;

export type Operator = AsyncDisposable & {
  /** Address of /livez, /readyz and /metrics. */
  readonly url: string;
  /** Address of the resource server. */
  readonly apiUrl: string;
};

/**
 * The operator: reconciles the resources of the backend that its configuration names, as soon as it is the leader. The
 * returned operator has listed every kind.
 * @throws ConfigError, StoreError, ListenError, TokenFileError, KubeconfigError, KubeError
 */
export async function createOperator(config: OperatorConfig, overrides: OperatorOverrides = {}): Promise<Operator> {
  const clock = overrides.clock ?? systemClock;
  const logger = overrides.logger ?? createLogger({ service: 'operator', level: 'info' });
  const metrics = createMetrics({ service: 'operator' });
  const meter = createReconcileMeter(metrics);
  const counts = [createBindingCounts(metrics), createAgentCounts(metrics)];
  await using starting = new AsyncDisposableStack();
  const tools: BackendTools = {
    logger,
    clock,
    metrics,
    meter,
    onRequest: meter.requested,
  };
  const backend = await openBackend(config, tools, starting, overrides);
  const caches = starting.use(startCaches({ client: backend.client, logger, clock }));
  let isSynced = false;
  const isSilent = (): boolean => Math.max(caches.silenceMs(), backend.silenceMs()) > longestSilenceMs;
  const admin = starting.use(
    await serveAdmin({
      listen: config.listen,
      metrics,
      refresh: () => {
        meter.refresh();
        for (const one of counts) one.refresh();
      },
      problems: {
        // A standby is ready: it has synced all resources and waits for the lease.
        ready: () => [
          ...(isSynced ? [] : ['the resources are not listed yet']),
          ...(isSynced && isSilent() ? ['a watch has not received data for too long'] : []),
        ],
        alive: () => [backend.leadership.problem()].filter((problem) => problem !== undefined),
      },
    }),
  );
  await Promise.all([caches.synced, backend.synced]);
  isSynced = true;
  const acting = starting.use(
    actAsLeader(backend.leadership, () => {
      for (const one of counts) one.watch(caches.stores);
      return startControllers({ config, backend, caches, clock, logger, meter });
    }),
  );
  void acting.lost.then((error) => (overrides.onLost ?? endProcess)(error));
  logger.info('operator_started', { build: backend.build, namespace: config.namespace, api: backend.apiUrl });
  const running = starting.move();
  return { url: admin.url, apiUrl: backend.apiUrl, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** An uncaught error ends the process immediately; preconditions refuse its writes in flight. */
function endProcess(error: LeadershipLostError): void {
  queueMicrotask(() => {
    throw error;
  });
}

function openBackend(
  config: OperatorConfig,
  tools: BackendTools,
  parts: AsyncDisposableStack,
  overrides: OperatorOverrides,
): Promise<Backend> {
  switch (config.mode) {
    case 'standalone':
      return openStandalone(config, tools, parts, overrides);
    case 'cluster':
      return openCluster(config, tools, parts, overrides);
  }
}
