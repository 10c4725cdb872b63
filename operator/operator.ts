import { createLogger } from '#kit/log/logger';
import { createMetrics } from '#kit/metrics/metrics';
import { systemClock } from '#kit/time/clock';
import { startCaches } from './caches.ts';
import type { OperatorConfig } from './config.ts';
import { serveAdmin } from './http/admin.ts';
import type { OperatorOverrides, Place, PlaceTools } from './place.ts';
import { createReconcileMeter } from './reconcile/reconcile-metrics.ts';
import { openStandalone } from './standalone.ts';
import { startControllers } from './start-controllers.ts';

export type { OperatorOverrides } from './place.ts';

/** A watch that was not heard of for so long does not show what is: servers end watches sooner. */
const longestSilenceMs = 60_000;

export type Operator = AsyncDisposable & {
  /** Where /livez, /readyz and /metrics are. */
  readonly url: string;
  /** Where the resources are. */
  readonly apiUrl: string;
};

/**
 * The operator: reconciles the resources of the place that its configuration names. It is up when every kind was
 * listed.
 * @throws ConfigError, StoreError, ListenError, TokenFileError
 */
export async function createOperator(config: OperatorConfig, overrides: OperatorOverrides = {}): Promise<Operator> {
  const clock = overrides.clock ?? systemClock;
  const logger = overrides.logger ?? createLogger({ service: 'operator', level: 'info' });
  const metrics = createMetrics({ service: 'operator' });
  const meter = createReconcileMeter(metrics);
  await using starting = new AsyncDisposableStack();
  const tools: PlaceTools = {
    logger,
    clock,
    metrics,
    onRequest: ({ method, status, seconds }) => meter.requested(method, status, seconds),
  };
  const place = await openPlace(config, tools, starting, overrides);
  const caches = starting.use(startCaches({ client: place.client, logger, clock }));
  let isSynced = false;
  const admin = starting.use(
    await serveAdmin({
      listen: config.listen,
      metrics,
      refresh: () => meter.refresh(),
      problems: () => [
        ...(isSynced ? [] : ['the resources are not listed yet']),
        ...(isSynced && caches.silenceMs() > longestSilenceMs ? ['a watch has not heard of its server'] : []),
      ],
    }),
  );
  await caches.synced;
  isSynced = true;
  starting.use(startControllers({ config, place, caches, clock, logger, meter }));
  logger.info('operator_started', { build: place.build, namespace: config.namespace, api: place.apiUrl });
  const running = starting.move();
  return { url: admin.url, apiUrl: place.apiUrl, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

function openPlace(
  config: OperatorConfig,
  tools: PlaceTools,
  parts: AsyncDisposableStack,
  overrides: OperatorOverrides,
): Promise<Place> {
  switch (config.mode) {
    case 'standalone':
      return openStandalone(config, tools, parts, overrides);
    case 'cluster':
      throw new TypeError('a cluster');
  }
}
