import type { Metrics } from '#kit/metrics/metrics';
import type { RequestReport } from '#kube/client/client';
import type { WorkQueueCounts } from '#kube/queue/work-queue';
import type { Consequence } from './outcome.ts';

export const controllerNames = [
  'guardrailpolicy',
  'modelbinding',
  'runtimeworkload',
  'gatewayreport',
  'deployment',
  'agentdeployment',
  'servedpolicy',
  'bundlesweep',
  'collection',
  'agentversion',
  'agent',
] as const;
export type ControllerName = (typeof controllerNames)[number];

const results = ['success', 'error', 'requeue', 'requeue_after'] as const;

/** Upper bounds of controller-runtime, seconds. */
const passSeconds = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];
const queueSeconds = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.1, 1, 10, 100, 1_000];
/** Upper bounds of client-go, seconds. */
const requestSeconds = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

const methods = ['GET', 'POST', 'PATCH', 'DELETE'] as const;

/** Metrics of controllers, under the names of controller-runtime, so that its dashboards and alerts work. */
export type ReconcileMeter = {
  finished(controller: ControllerName, result: Consequence['result']): void;
  /** A pass ended with an unexpected error, which is a defect in the code. */
  surprised(controller: ControllerName): void;
  measured(controller: ControllerName, queuedSeconds: number, workedSeconds: number): void;
  /** Registers a queue whose counts are read at every scrape. */
  watch(controller: ControllerName, concurrency: number, counts: () => WorkQueueCounts): void;
  requested(report: RequestReport): void;
  /** Updates the gauges; called before a scrape. */
  refresh(): void;
};

export function createReconcileMeter(metrics: Metrics): ReconcileMeter {
  const passes = createPassMeter(metrics);
  const queues = createQueueMeter(metrics);
  const requests = createRequestMeter(metrics);
  const watched = new Map<ControllerName, () => WorkQueueCounts>();
  return {
    finished: passes.finished,
    surprised: passes.surprised,
    measured(name, queuedSeconds, workedSeconds) {
      passes.measured(name, workedSeconds);
      queues.measured(name, queuedSeconds, workedSeconds);
    },
    watch(name, concurrency, counts) {
      watched.set(name, counts);
      passes.limited(name, concurrency);
    },
    requested: requests.requested,
    refresh() {
      for (const [name, read] of watched) {
        const counts = read();
        passes.refresh(name, counts);
        queues.refresh(name, counts);
      }
    },
  };
}

function createPassMeter(metrics: Metrics) {
  const labels = { controller: controllerNames } as const;
  const counter = (name: string, help: string) =>
    metrics.counter({ name: `controller_runtime_${name}_total`, help, labels });
  const gauge = (name: string, help: string) => metrics.gauge({ name: `controller_runtime_${name}`, help, labels });
  const total = metrics.counter({
    name: 'controller_runtime_reconcile_total',
    help: 'Passes over objects, by result.',
    labels: { ...labels, result: results },
  });
  const errors = counter('reconcile_errors', 'Passes over objects that ended with an error.');
  const terminal = counter('terminal_reconcile_errors', 'Always 0, for dashboards: every error is retried.');
  const panics = counter('reconcile_panics', 'Passes that ended with an unexpected error.');
  const timeouts = counter(
    'reconcile_timeouts',
    'Always 0, for dashboards: the calls of a pass have their own timeouts.',
  );
  const time = metrics.histogram({
    name: 'controller_runtime_reconcile_time_seconds',
    help: 'Duration of passes over objects.',
    labels,
    buckets: passSeconds,
  });
  const maximum = gauge('max_concurrent_reconciles', 'Maximum number of concurrent passes.');
  const active = gauge('active_workers', 'Number of running passes.');
  for (const controller of controllerNames) {
    for (const result of results) total.add({ controller, result }, 0);
    for (const each of [errors, terminal, panics, timeouts]) each.add({ controller }, 0);
    active.set({ controller }, 0);
  }
  return {
    finished(controller: ControllerName, result: Consequence['result']): void {
      total.add({ controller, result });
      if (result === 'error') errors.add({ controller });
    },
    surprised: (controller: ControllerName): void => panics.add({ controller }),
    measured: (controller: ControllerName, workedSeconds: number): void => time.observe({ controller }, workedSeconds),
    limited: (controller: ControllerName, concurrency: number): void => maximum.set({ controller }, concurrency),
    refresh: (controller: ControllerName, counts: WorkQueueCounts): void => active.set({ controller }, counts.active),
  };
}

function createRequestMeter(metrics: Metrics) {
  const requests = metrics.counter({
    name: 'rest_client_requests_total',
    help: 'Requests to the API server by method and status.',
    labels: { method: methods, code: { bounded: 30 }, host: { bounded: 2 } },
  });
  const time = metrics.histogram({
    name: 'rest_client_request_duration_seconds',
    help: 'Time from a request to the API server to the headers of its response.',
    labels: { verb: methods, host: { bounded: 2 } },
    buckets: requestSeconds,
  });
  return {
    requested({ method, status, host, seconds }: RequestReport): void {
      requests.add({ method, code: status, host });
      time.observe({ verb: method, host }, seconds);
    },
  };
}

function createQueueMeter(metrics: Metrics) {
  const labels = { name: controllerNames, controller: controllerNames } as const;
  const of = (name: ControllerName) => ({ name, controller: name });
  const gauge = (name: string, help: string) => metrics.gauge({ name, help, labels });
  const counter = (name: string, help: string) => metrics.counter({ name, help, labels });
  const histogram = (name: string, help: string) => metrics.histogram({ name, help, labels, buckets: queueSeconds });
  const depth = gauge('workqueue_depth', 'Number of queued keys.');
  const unfinished = gauge('workqueue_unfinished_work_seconds', 'Total duration of all running passes in seconds.');
  const longest = gauge(
    'workqueue_longest_running_processor_seconds',
    'Duration of the longest running pass in seconds.',
  );
  const adds = counter('workqueue_adds_total', 'Keys that were queued.');
  const retries = counter('workqueue_retries_total', 'Keys that were queued again after an error.');
  const queued = histogram('workqueue_queue_duration_seconds', 'Time for which keys were queued before their pass.');
  const worked = histogram('workqueue_work_duration_seconds', 'Duration of passes of a controller over one key each.');
  const seen = new Map<ControllerName, { readonly adds: number; readonly retries: number }>();
  for (const name of controllerNames) {
    for (const each of [adds, retries]) each.add(of(name), 0);
    for (const each of [depth, unfinished, longest]) each.set(of(name), 0);
  }

  return {
    measured(name: ControllerName, queuedSeconds: number, workedSeconds: number): void {
      queued.observe(of(name), queuedSeconds);
      worked.observe(of(name), workedSeconds);
    },
    refresh(name: ControllerName, counts: WorkQueueCounts): void {
      const before = seen.get(name) ?? { adds: 0, retries: 0 };
      seen.set(name, counts);
      depth.set(of(name), counts.depth);
      unfinished.set(of(name), counts.unfinishedSeconds);
      longest.set(of(name), counts.longestSeconds);
      adds.add(of(name), counts.adds - before.adds);
      retries.add(of(name), counts.retries - before.retries);
    },
  };
}
