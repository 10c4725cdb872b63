import type { Logger } from '#kit/log/logger';
import type { Clock } from '#kit/time/clock';
import { createPassScheduler } from '#kube/queue/pass-scheduler';
import type { WorkQueue } from '#kube/queue/work-queue';
import type { LiveWorld } from '../acceptance/gather-views.ts';
import type { Caches } from '../caches/caches.ts';
import { createAgentController } from '../controllers/agent/controller.ts';
import { createAgentVersionController } from '../controllers/agent-version/controller.ts';
import { createBundleSweep } from '../controllers/bundle-sweep/controller.ts';
import { createCollectionController } from '../controllers/collection/controller.ts';
import { createReportController } from '../controllers/gateway-report/controller.ts';
import { createPolicyController, pendingRestores } from '../controllers/guardrail-policy/controller.ts';
import { createPolicyJudgements } from '../controllers/guardrail-policy/judgements.ts';
import { createBindingController } from '../controllers/model-binding/controller.ts';
import { createWorkloadController } from '../controllers/runtime-workload/controller.ts';
import { createNeeds } from '../controllers/runtime-workload/needs.ts';
import { createServedController } from '../controllers/served-policy/controller.ts';
import { startController } from '../reconcile/controller.ts';
import type { PassOutcome } from '../reconcile/outcome.ts';
import type { ControllerName, ReconcileMeter } from '../reconcile/reconcile-metrics.ts';
import { createRecentRevisions } from '../revisions/recent-revisions.ts';
import { makeServedTarget } from '../served/make-served-target.ts';
import { createServedFailures } from '../served/served-failures.ts';
import { createTriggers } from '../triggers/triggers.ts';
import { createWorkloadClaims } from '../workloads/workload-claims.ts';
import type { Backend } from './backend.ts';
import type { OperatorConfig } from './operator-config.ts';

/** Changes within this time are handled together when workloads are checked for whether they are still needed. */
const debounceMs = 20;

/**
 * Interval of the resync, milliseconds. A resync finds changes that no trigger reported; a pass without a difference
 * writes nothing.
 */
export const resyncMs = 600_000;

type ControllersOptions = {
  readonly config: Pick<OperatorConfig, 'maxStreamMs' | 'progressDeadlineMs'>;
  readonly backend: Backend;
  /** Must be synced before the controllers start: no decision is made before everything was listed. */
  readonly caches: Caches;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meter: ReconcileMeter;
};

/**
 * Starts a queue for each kind, connects it to the triggers and queues every object once. Disposing waits
 * for running passes; afterwards no pass starts.
 */
export function startControllers(options: ControllersOptions): AsyncDisposable {
  const { backend, caches, logger, meter } = options;
  const { workloads, gateways, bundles, served } = backend;
  const { stores } = caches;
  const controllers = createControllers(options, {
    onReleased: (workloads) => lookAtWorkloads(workloads),
    onPolicyDue(policy) {
      if (!parts.disposed) queues.policies.add(policy);
    },
    onAnswers: (queue, names) => {
      if (parts.disposed) return;
      for (const name of names) queues[queue].add(name, { priority: 'low' });
    },
    onRestore: (policy) => queues.policies.add(policy),
  });
  const { bindings, addresses, needs } = controllers;

  const parts = new AsyncDisposableStack();
  parts.use(controllers.judgements);
  const scheduler = createPassScheduler();
  const start = (
    name: ControllerName,
    concurrency: number,
    { reconcile }: { reconcile(key: string, signal: AbortSignal): Promise<PassOutcome> },
  ): WorkQueue => parts.use(startController({ name, concurrency, logger, meter, scheduler, reconcile }));
  const queues = {
    policies: start('guardrailpolicy', 4, controllers.policies),
    bindings: start('modelbinding', 24, bindings),
    workloads: start('runtimeworkload', 4, controllers.workloads),
    reports: start('gatewayreport', 1, controllers.reports),
    served: start('servedpolicy', 2, addresses),
    bundles: start('bundlesweep', 1, controllers.sweep),
    // The service creates two collections at a time.
    collections: start('collection', 2, controllers.collections),
    agentVersions: start('agentversion', 4, controllers.agentVersions),
    agents: start('agent', 4, controllers.agents),
  };

  const concerned = new Set<string>();
  let looking: NodeJS.Timeout | undefined;
  parts.defer(() => clearTimeout(looking));
  /** Queues workloads that a change affects, and unneeded workloads: gateway reports decide when these are removed. */
  function lookAtWorkloads(workloads: readonly string[] = []): void {
    if (parts.disposed) return;
    for (const workload of workloads) concerned.add(workload);
    looking ??= setTimeout(() => {
      looking = undefined;
      for (const { metadata } of stores.workloads.list()) {
        if (concerned.has(metadata.name) || !needs.isNeeded(metadata.name)) queues.workloads.add(metadata.name);
      }
      concerned.clear();
    }, debounceMs);
  }

  workloads.onChange((name) => queues.workloads.add(name));
  gateways.onChange((name) => queues.reports.add(name));
  backend.agents?.onChange((name) => {
    queues.agentVersions.add(name);
    const version = stores.agentVersions.get(name);
    if (version !== undefined) queues.agents.add(version.spec.agent);
  });
  bundles.onLost((digest) => {
    for (const { metadata, spec } of stores.workloads.list()) {
      if (spec.digest !== digest) continue;
      queues.workloads.add(metadata.name);
      for (const binding of bindings.waitingFor(metadata.name)) queues.bindings.add(binding);
    }
  });
  const { waitingFor } = bindings;
  const triggers = createTriggers({
    queues,
    stores,
    lookAtWorkloads,
    waitingFor,
    served: { ...served, waitingFor: addresses.waitingFor },
  });
  caches.connect(triggers);
  served.onChange(triggers.served);
  queues.policies.add(pendingRestores);
  backend.environment.onChange(() => void triggers.everything());
  parts.use(startResync(triggers.everything));
  return parts;
}

/** Queues all objects now and at every resync, until disposal. */
export function startResync(everything: () => Promise<void>): Disposable {
  void everything();
  const resync = setInterval(() => void everything(), resyncMs);
  return { [Symbol.dispose]: () => clearInterval(resync) };
}

type ControllerHooks = {
  /** Workloads that are no longer waited for. */
  readonly onReleased: (workloads: readonly string[]) => void;
  /** Policies whose judgement is complete or must be requested again, or that a name begins or ceases to serve. */
  readonly onPolicyDue: (policy: string) => void;
  /** Policies whose deletion was cancelled. */
  readonly onRestore: (policy: string) => void;
  /** Objects whose providers should be called again, or answer again. */
  readonly onAnswers: (queue: 'bindings' | 'served', names: readonly string[]) => void;
};

function createControllers(
  { config, backend, caches, clock, logger }: ControllersOptions,
  { onReleased, onAnswers, onPolicyDue, onRestore }: ControllerHooks,
) {
  const { client, build, template, workloads, gateways, bundles, judge, checks, events, served } = backend;
  const { maxStreamMs, progressDeadlineMs } = config;
  const { stores } = caches;
  const environment = backend.environment.current;
  const world: LiveWorld = { stores, environment, build, template, canRun: workloads.canRun, history: caches };
  const claims = createWorkloadClaims();
  const revisions = createRecentRevisions(client, clock);
  const ports = { client, bundles, judge, workloads, checks, revisions, logger, events };
  const notServed = createServedFailures(onPolicyDue);
  const addresses = createServedController({
    ports,
    world,
    served,
    notServed,
    claims,
    clock,
    maxStreamMs,
    onReleased,
    onAnswers: (names) => onAnswers('served', names),
  });
  const bindings = createBindingController({
    ports,
    world,
    claims,
    clock,
    progressDeadlineMs,
    maxStreamMs,
    onReleased,
    onAnswers: (names) => onAnswers('bindings', names),
  });
  const needs = createNeeds({
    stores,
    entries: served.entries,
    pins: served.pins,
    starting: (workload) => ({ bindings: bindings.waitingFor(workload), served: addresses.waitingFor(workload) }),
  });
  const judgements = createPolicyJudgements({ judge, environment, logger, onDue: onPolicyDue });
  return {
    needs,
    judgements,
    policies: createPolicyController({
      client,
      stores,
      clock,
      logger,
      events,
      served,
      notServed,
      judgements,
      queue: onRestore,
    }),
    bindings,
    addresses,
    workloads: createWorkloadController({
      ...ports,
      world,
      caches,
      served,
      needs,
      claims,
      clock,
      maxStreamMs,
    }),
    sweep: createBundleSweep({ client, bundles }),
    reports: createReportController({ client, stores, gateways, clock, logger }),
    collections: createCollectionController({
      client,
      stores,
      service: backend.collections,
      clock,
      logger,
      events,
    }),
    agentVersions: createAgentVersionController({
      client,
      stores,
      checks: backend.versionChecks,
      history: caches,
      environment,
      host: backend.agents,
      clock,
      logger,
      events,
    }),
    agents: createAgentController({
      client,
      stores,
      history: caches,
      environment,
      host: backend.agents,
      namespace: client.namespace,
      servedTarget(policy) {
        const pin = served.pins().get(policy);
        return pin === undefined ? undefined : makeServedTarget(pin, workloads.observe(pin.workload).addresses);
      },
      authority: backend.authority,
      clock,
      logger,
      events,
    }),
  };
}
