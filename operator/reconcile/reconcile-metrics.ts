import type { Metrics } from '#kit/metrics/metrics';
import type { WorkQueueCounts } from '#kube/work-queue';
import type { Consequence } from './outcome.ts';

export const controllerNames = [
  'guardrailpolicy',
  'modelbinding',
  'runtimegeneration',
  'gatewayreport',
  'deployment',
  'servedpolicy',
] as const;
export type ControllerName = (typeof controllerNames)[number];

const results = ['success', 'error', 'requeue', 'requeue_after'] as const;

const seconds = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1, 1.5, 2, 3, 4, 5, 7.5, 10, 15, 20, 30, 45, 60,
];

/** Counts what controllers do, under the names of controller-runtime, so that its dashboards and alerts fit. */
export type ReconcileMeter = {
  finished(controller: ControllerName, result: Consequence['result']): void;
  measured(controller: ControllerName, queuedSeconds: number, workedSeconds: number): void;
  /** Has the counts of a queue read at every scrape. */
  watch(controller: ControllerName, concurrency: number, counts: () => WorkQueueCounts): void;
  requested(method: string, code: string, seconds: number): void;
  /** Brings the gauges up to date; called before a scrape. */
  refresh(): void;
};

export function createReconcileMeter(metrics: Metrics): ReconcileMeter {
  const controller = { controller: controllerNames } as const;
  const named = { name: controllerNames } as const;
  const total = metrics.counter({
    name: 'controller_runtime_reconcile_total',
    help: 'Passes over objects by how they ended.',
    labels: { ...controller, result: results },
  });
  const errors = metrics.counter({
    name: 'controller_runtime_reconcile_errors_total',
    help: 'Passes over objects that ended with an error.',
    labels: controller,
  });
  const time = metrics.histogram({
    name: 'controller_runtime_reconcile_time_seconds',
    help: 'Duration of passes over objects.',
    labels: controller,
    buckets: seconds,
  });
  const maximum = metrics.gauge({
    name: 'controller_runtime_max_concurrent_reconciles',
    help: 'Passes that may run at the same time.',
    labels: controller,
  });
  const active = metrics.gauge({
    name: 'controller_runtime_active_workers',
    help: 'Passes that run now.',
    labels: controller,
  });
  const queues = createQueueMeter(metrics, named);
  const requests = metrics.counter({
    name: 'rest_client_requests_total',
    help: 'Requests to the API server by method and status.',
    labels: { method: ['GET', 'POST', 'PATCH', 'DELETE'], code: { bounded: 20 } },
  });
  const requestTime = metrics.histogram({
    name: 'rest_client_request_duration_seconds',
    help: 'Duration of requests to the API server; watches are not counted.',
    labels: { verb: ['GET', 'POST', 'PATCH', 'DELETE'] },
    buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
  });
  const watched = new Map<ControllerName, () => WorkQueueCounts>();
  for (const name of controllerNames) {
    for (const result of results) total.add({ controller: name, result }, 0);
    errors.add({ controller: name }, 0);
  }

  return {
    finished(name, result) {
      total.add({ controller: name, result });
      if (result === 'error') errors.add({ controller: name });
    },
    measured(name, queuedSeconds, workedSeconds) {
      time.observe({ controller: name }, workedSeconds);
      queues.measured(name, queuedSeconds, workedSeconds);
    },
    watch(name, concurrency, counts) {
      watched.set(name, counts);
      maximum.set({ controller: name }, concurrency);
    },
    requested(method, code, duration) {
      requests.add({ method: method as 'GET', code });
      requestTime.observe({ verb: method as 'GET' }, duration);
    },
    refresh() {
      for (const [name, read] of watched) {
        const counts = read();
        active.set({ controller: name }, counts.active);
        queues.refresh(name, counts);
      }
    },
  };
}

function createQueueMeter(metrics: Metrics, labels: { readonly name: typeof controllerNames }) {
  const gauge = (name: string, help: string) => metrics.gauge({ name, help, labels });
  const counter = (name: string, help: string) => metrics.counter({ name, help, labels });
  const histogram = (name: string, help: string) => metrics.histogram({ name, help, labels, buckets: seconds });
  const depth = gauge('workqueue_depth', 'Keys that wait for a worker.');
  const unfinished = gauge('workqueue_unfinished_work_seconds', 'Seconds of all passes that run now, together.');
  const longest = gauge('workqueue_longest_running_processor_seconds', 'Seconds of the longest pass that runs now.');
  const adds = counter('workqueue_adds_total', 'Keys that were queued.');
  const retries = counter('workqueue_retries_total', 'Keys that were queued again after an error.');
  const queued = histogram('workqueue_queue_duration_seconds', 'How long keys waited for a worker.');
  const worked = histogram('workqueue_work_duration_seconds', 'How long a worker had a key.');
  const seen = new Map<ControllerName, { readonly adds: number; readonly retries: number }>();

  return {
    measured(name: ControllerName, queuedSeconds: number, workedSeconds: number): void {
      queued.observe({ name }, queuedSeconds);
      worked.observe({ name }, workedSeconds);
    },
    refresh(name: ControllerName, counts: WorkQueueCounts): void {
      const before = seen.get(name) ?? { adds: 0, retries: 0 };
      seen.set(name, counts);
      depth.set({ name }, counts.depth);
      unfinished.set({ name }, counts.unfinishedSeconds);
      longest.set({ name }, counts.longestSeconds);
      adds.add({ name }, counts.adds - before.adds);
      retries.add({ name }, counts.retries - before.retries);
    },
  };
}
