import { join } from 'node:path';
import { createCheckClient } from '#checks/client';
import { openTokenFile } from '#kit/http/token-file';
import { createLogger, type Logger } from '#kit/log/logger';
import { createMetrics } from '#kit/metrics/metrics';
import { childEnvironment } from '#kit/process/config';
import { type Clock, systemClock } from '#kit/time/clock';
import { createClient, type KubeClient } from '#kube/client';
import type { WorkQueue } from '#kube/work-queue';
import { createBundleFiles } from './bundles/adapters/files/bundle-files.ts';
import type { BundleStore, Judge } from './bundles/ports.ts';
import { createJudge } from './bundles/run-judge.ts';
import { type Caches, startCaches } from './caches.ts';
import type { OperatorConfig } from './config.ts';
import { createReportController } from './controllers/gateway-report/controller.ts';
import { createPolicyController } from './controllers/guardrail-policy/controller.ts';
import { createBindingController } from './controllers/model-binding/controller.ts';
import type { BindingWorld } from './controllers/model-binding/gather.ts';
import { createGenerationController } from './controllers/runtime-generation/controller.ts';
import { createNeedsFinder } from './controllers/runtime-generation/needed-workloads.ts';
import { type DataDirectory, prepareDataDirectory } from './data-directory.ts';
import { type Environment, readEnvironmentFiles } from './environment/read-environment-files.ts';
import { startFolderApi } from './folder-api/start-folder-api.ts';
import { createGatewayProcesses } from './gateways/adapters/processes/gateway-processes.ts';
import { serveAdmin } from './http/admin.ts';
import { startController } from './reconcile/controller.ts';
import type { PassOutcome } from './reconcile/outcome.ts';
import { type ControllerName, createReconcileMeter, type ReconcileMeter } from './reconcile/reconcile-metrics.ts';
import { createTriggers } from './triggers.ts';
import { buildVersion } from './workloads/adapters/processes/build-version.ts';
import { createProcesses } from './workloads/adapters/processes/processes.ts';
import type { Workloads } from './workloads/ports.ts';
import { createWorkloadClaims } from './workloads/workload-claims.ts';

/** A watch that was not heard of for so long does not show what is: servers end watches sooner. */
const longestSilenceMs = 60_000;

export type Operator = AsyncDisposable & {
  /** Where /livez, /readyz and /metrics are. */
  readonly url: string;
  /** Where the resources are. */
  readonly apiUrl: string;
};

export type OperatorOverrides = {
  readonly logger?: Logger;
  readonly clock?: Clock;
  /** Stands between the operator and the resources: counts, delays or breaks calls. */
  readonly wrapClient?: (client: KubeClient) => KubeClient;
  /** Stand for the adapters; the operator disposes of the workloads. */
  readonly workloads?: Workloads;
  readonly judge?: Judge;
  readonly bundles?: BundleStore;
};

const root = join(import.meta.dirname, '..');

/**
 * The operator of a standalone platform: serves the resources of its folder and reconciles them. It is up when every
 * kind was listed.
 * @throws ConfigError, StoreError, ListenError, TokenFileError
 */
export async function createOperator(config: OperatorConfig, overrides: OperatorOverrides = {}): Promise<Operator> {
  const clock = overrides.clock ?? systemClock;
  const logger = overrides.logger ?? createLogger({ service: 'operator', level: 'info' });
  const metrics = createMetrics({ service: 'operator' });
  const meter = createReconcileMeter(metrics);
  const places = await prepareDataDirectory(config.dataDirectory);
  const { approved, limits } = await readEnvironmentFiles(places);
  const build = config.build ?? (await buildVersion(root));
  await using starting = new AsyncDisposableStack();

  const api = starting.use(
    await startFolderApi({
      directory: places.resources,
      watchedDirectory: places.apply,
      listen: config.apiListen,
      tokenFile: openTokenFile(places.apiToken),
      namespace: config.namespace,
      logger,
      metrics,
      clock,
    }),
  );
  const plainClient = starting.use(
    createClient({
      url: api.url,
      tokenFile: openTokenFile(places.apiToken),
      namespace: config.namespace,
      onRequest: ({ method, status, seconds }) => meter.requested(method, status, seconds),
    }),
  );
  const client = overrides.wrapClient?.(plainClient) ?? plainClient;
  const adapters = createAdapters(places, build, logger, overrides);
  for (const owned of [adapters.workloads, adapters.checks]) starting.use(owned);
  starting.use(adapters.gateways);
  const caches = starting.use(startCaches({ client, logger, clock }));
  const parts: Parts = { config, client, caches, adapters, clock, logger, meter, approved, limits, build };
  const { sweep } = startControllers(parts, starting);

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
  sweep();
  logger.info('operator_started', { build, namespace: config.namespace, api: api.url });
  const running = starting.move();
  return { url: admin.url, apiUrl: api.url, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

type Adapters = ReturnType<typeof createAdapters>;

function createAdapters(places: DataDirectory, build: string, logger: Logger, overrides: OperatorOverrides) {
  return {
    workloads:
      overrides.workloads ??
      createProcesses({
        executable: process.execPath,
        runtimeFile: join(root, 'runtime', 'main.ts'),
        build,
        bundlesDirectory: places.bundles,
        logsDirectory: places.logs,
        runDirectory: places.run,
        secretsDirectory: places.secrets,
        tokenFile: places.runtimeToken,
        inherited: childEnvironment(),
        logger,
      }),
    gateways: createGatewayProcesses({ runDirectory: places.run }),
    checks: createCheckClient({ tokenFile: openTokenFile(places.runtimeToken) }),
    bundles: overrides.bundles ?? createBundleFiles(places.bundles),
    judge:
      overrides.judge ?? createJudge({ file: join(root, 'runtime', 'judge.ts'), secretsDirectory: places.secrets }),
  };
}

type Parts = Environment & {
  readonly config: OperatorConfig;
  readonly client: KubeClient;
  readonly caches: Caches;
  readonly adapters: Adapters;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meter: ReconcileMeter;
  readonly build: string;
};

/** Starts a queue per kind and connects them to what changes. */
function startControllers(parts: Parts, starting: AsyncDisposableStack): { readonly sweep: () => void } {
  const { client, caches, adapters, clock, logger, meter, approved, limits, build } = parts;
  const { workloads, gateways, bundles, judge, checks } = adapters;
  const { maxStreamMs, progressDeadlineMs } = parts.config;
  const { stores } = caches;
  const world: BindingWorld = { stores, approved, limits, build, canRun: workloads.canRun };
  const claims = createWorkloadClaims();
  const needs = createNeedsFinder(client, world);
  const ports = { client, bundles, judge, workloads, checks, logger };
  const policies = createPolicyController({ client, stores, clock, logger });
  const bindings = createBindingController({ ports, world, claims, clock, progressDeadlineMs, maxStreamMs });
  const generations = createGenerationController({ ...ports, caches, needs, claims, clock, maxStreamMs });
  const reports = createReportController({ client, stores, gateways, clock, logger });

  const start = (name: ControllerName, concurrency: number, reconcile: Reconcile): WorkQueue =>
    starting.use(startController({ name, concurrency, logger, meter, reconcile: after(caches.synced, reconcile) }));
  const queues = {
    policies: start('guardrailpolicy', 4, policies.reconcile),
    bindings: start('modelbinding', 8, bindings.reconcile),
    generations: start('runtimegeneration', 4, generations.reconcile),
    reports: start('gatewayreport', 1, reports.reconcile),
  };
  workloads.onChange((name) => queues.generations.add(name));
  gateways.onChange((name) => queues.reports.add(name));
  caches.connect(createTriggers(queues, stores, bindings.waitingFor));
  return generations;
}

type Reconcile = (key: string, signal: AbortSignal) => Promise<PassOutcome>;

/** Nothing is decided upon before everything was listed. */
function after(synced: Promise<void>, reconcile: Reconcile): Reconcile {
  return async (key, signal) => {
    await synced;
    return reconcile(key, signal);
  };
}
