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
import { startCaches } from './caches.ts';
import type { OperatorConfig } from './config.ts';
import { createReportController } from './controllers/gateway-report/controller.ts';
import { createPolicyController } from './controllers/guardrail-policy/controller.ts';
import { createBindingController } from './controllers/model-binding/controller.ts';
import type { BindingWorld } from './controllers/model-binding/gather.ts';
import { createGenerationController } from './controllers/runtime-generation/controller.ts';
import { createNeedsFinder } from './controllers/runtime-generation/needed-workloads.ts';
import { prepareDataDirectory } from './data-directory.ts';
import { readEnvironmentFiles } from './environment/read-environment-files.ts';
import { startFolderApi } from './folder-api/start-folder-api.ts';
import { createGatewayProcesses } from './gateways/adapters/processes/gateway-processes.ts';
import { serveAdmin } from './http/admin.ts';
import { startController } from './reconcile/controller.ts';
import type { PassOutcome } from './reconcile/outcome.ts';
import { type ControllerName, createReconcileMeter } from './reconcile/reconcile-metrics.ts';
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
  const workloads = starting.use(
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
  );
  const gateways = starting.use(createGatewayProcesses({ runDirectory: places.run }));
  const checks = starting.use(createCheckClient({ tokenFile: openTokenFile(places.runtimeToken) }));
  const bundles = overrides.bundles ?? createBundleFiles(places.bundles);
  const judge =
    overrides.judge ?? createJudge({ file: join(root, 'runtime', 'judge.ts'), secretsDirectory: places.secrets });

  const caches = starting.use(startCaches({ client, logger, clock }));
  const { stores } = caches;
  const world: BindingWorld = { stores, approved, limits, build, canRun: workloads.canRun };
  const { maxStreamMs, progressDeadlineMs } = config;
  const policies = createPolicyController({ client, stores, clock, logger });
  const claims = createWorkloadClaims();
  const bindings = createBindingController({
    claims,
    ports: { client, bundles, judge, workloads, checks, logger },
    world,
    clock,
    progressDeadlineMs,
    maxStreamMs,
  });
  const needs = createNeedsFinder(client, world);
  const generations = createGenerationController({
    client,
    caches,
    needs,
    claims,
    workloads,
    bundles,
    clock,
    logger,
    maxStreamMs,
  });
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
  caches.connect(createTriggers(queues, stores));

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
  generations.sweep();
  logger.info('operator_started', { build, namespace: config.namespace, api: api.url });
  const running = starting.move();
  return { url: admin.url, apiUrl: api.url, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

type Reconcile = (key: string, signal: AbortSignal) => Promise<PassOutcome>;

/** Nothing is decided upon before everything was listed. */
function after(synced: Promise<void>, reconcile: Reconcile): Reconcile {
  return async (key, signal) => {
    await synced;
    return reconcile(key, signal);
  };
}
