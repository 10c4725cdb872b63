import type { Logger } from '#kit/log/logger';
import type { Clock } from '#kit/time/clock';
import { applyDesired, applyStatus } from '#kube/apply/apply';
import { type KubeClient, KubeError } from '#kube/client/client';
import { listAll } from '#kube/client/list-all';
import type { EventRecorder } from '#kube/events/event-recorder';
import { compareVersions, isVersion } from '#kube/watch/compare-versions';
import type { GatewayReport } from '#resources/gateway-report';
import type { GatewayRoute } from '#resources/gateway-route';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import { type LiveWorld, worldNow } from '../../acceptance/gather-views.ts';
import type { BundleStore } from '../../bundles/ports.ts';
import type { Caches } from '../../caches/caches.ts';
import { transitionEvents, type Watched } from '../../events/transition-events.ts';
import type { PassOutcome } from '../../reconcile/outcome.ts';
import { createStopwatches } from '../../reconcile/stopwatches.ts';
import type { ServedPolicies } from '../../served/ports.ts';
import type { Workloads } from '../../workloads/ports.ts';
import type { WorkloadClaims } from '../../workloads/workload-claims.ts';
import { decideWorkload, type WorkloadResult } from './decide.ts';
import type { Needs } from './needs.ts';
import { restoreBundle } from './restore-bundle.ts';
import type { WorkloadSnapshot } from './snapshot.ts';
import { makeWorkloadStatus } from './status.ts';

const maxSteps = 8;
/** Conditions whose changes emit an event. */
const watched: readonly Watched[] = [
  { type: 'Ready', status: 'False', reason: 'WorkloadFailed', as: { type: 'Warning', action: 'Run' } },
  { type: 'Ready', status: 'True', of: 'Ready', reason: 'WorkloadReady', as: { type: 'Normal', action: 'Run' } },
];

type WorkloadControllerOptions = {
  readonly client: KubeClient;
  readonly caches: Pick<Caches, 'stores' | 'routesChangedAt'>;
  readonly world: LiveWorld;
  readonly needs: Pick<Needs, 'of' | 'among'>;
  readonly workloads: Workloads;
  readonly served: Pick<ServedPolicies, 'pins' | 'readPins'>;
  readonly claims: Pick<WorkloadClaims, 'isClaimed'>;
  readonly bundles: BundleStore;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly maxStreamMs: number;
};

/** Runs the processes of a workload while the workload is needed, and removes them when no replica uses them. */
export function createWorkloadController(options: WorkloadControllerOptions) {
  const { client, caches, needs, workloads, served, clock, logger } = options;
  const { stores } = caches;
  const watches = createStopwatches(clock);

  async function reconcile(name: string): Promise<PassOutcome> {
    let workload = stores.workloads.get(name);
    if (workload === undefined) return forget(name);
    let bundle: WorkloadSnapshot['bundle'] = (await options.bundles.has(workload.spec.digest)) ? 'stored' : 'lost';
    for (let step = 0; step < maxSteps; step++) {
      const s = snapshotOf(workload, bundle);
      const decided = decideWorkload(s);
      switch (decided.kind) {
        case 'keep':
          workload = await writeSpec(workload, { state: 'Active', replicas: decided.replicas });
          break;
        case 'run':
          run(workload);
          break;
        case 'restore_bundle':
          bundle = (await restoreBundle(
            options,
            { ...worldNow(options.world), pins: served.pins() },
            name,
            workload.spec,
          ))
            ? 'stored'
            : 'unrecoverable';
          break;
        case 'mark':
          workload = await writeSpec(workload, { state: 'Draining' });
          break;
        case 'remove': {
          const kept = await removeUnlessNeeded(workload);
          if (kept === undefined) return { kind: 'settled' };
          workload = kept;
          break;
        }
        case 'settle':
          return settle(workload, s, decided.result);
      }
    }
    throw new TypeError('the reconcile of a workload exceeded its maximum number of steps');
  }

  function snapshotOf(workload: Stored<RuntimeWorkload>, bundle: WorkloadSnapshot['bundle']): WorkloadSnapshot {
    const { metadata, spec, status } = workload;
    const { name } = metadata;
    const runnable = workloads.canRun(spec);
    const isRunning = workloads.has(name);
    if (runnable && isRunning) run(workload);
    const need = needs.of(name);
    return {
      name,
      generation: metadata.generation,
      deleting: metadata.deletionTimestamp !== undefined,
      spec,
      conditions: status?.conditions ?? [],
      knownAddresses: status?.addresses ?? [],
      runnable,
      bundle,
      observed: isRunning ? workloads.observe(name) : undefined,
      need,
      users: namesOf(stores.reports.list().filter((report) => uses(report, name))),
      behind: namesOf(stores.reports.list().filter(isBehind)),
      drained: isDrained(name, need.askers.length > 0),
    };
  }

  /** The time starts when every ready replica is past the change; later changes of other routes do not restart it. */
  function isDrained(name: string, isNeeded: boolean): boolean {
    if (isNeeded) watches.forget(name);
    else if (
      watches.isRunning(name) ||
      !stores.reports.list().some((report) => report.spec.ready && isBehind(report))
    ) {
      return watches.elapsed(name, 'draining') >= options.maxStreamMs;
    }
    return false;
  }

  function isBehind({ spec }: Stored<GatewayReport>): boolean {
    const { appliedThrough } = spec;
    return !isVersion(appliedThrough) || compareVersions(appliedThrough, caches.routesChangedAt(spec.gateway)) < 0;
  }

  function run({ metadata, spec, status }: Stored<RuntimeWorkload>): void {
    const { name, uid } = metadata;
    const { digest, build, manifest, replicas } = spec;
    workloads.ensure({ name, uid, digest, build, manifest, replicas, addresses: status?.addresses ?? [] });
  }

  function writeSpec(
    workload: Stored<RuntimeWorkload>,
    change: Partial<Pick<RuntimeWorkload['spec'], 'state' | 'replicas'>>,
  ): Promise<Stored<RuntimeWorkload>> {
    const spec = { ...workload.spec, ...change };
    return applyDesired(client, kinds.runtimeWorkload, workload, { spec });
  }

  /**
   * After the mark, routes and bindings are read live; the workload is deleted only if the marked version is still the
   * current one.
   */
  async function removeUnlessNeeded(workload: Stored<RuntimeWorkload>): Promise<Stored<RuntimeWorkload> | undefined> {
    const routes = await listAll<GatewayRoute>(client, kinds.gatewayRoute);
    const bindings = await listAll<ModelBinding>(client, kinds.modelBinding);
    const { name, uid, resourceVersion } = workload.metadata;
    const pins = await served.readPins();
    const need = needs.among(name, { routes: routes.items, bindings: bindings.items, pins });
    // A route that names the workload is being written; afterwards the route is listed, or the workload is not needed.
    if (options.claims.isClaimed(name))
      throw new KubeError('conflict', 'a route that names the workload is being written');
    if (need.askers.length > 0) return writeSpec(workload, { state: 'Active', replicas: need.replicas });
    await client.delete(kinds.runtimeWorkload, name, { uid, resourceVersion });
    workloads.remove(name);
    logger.info('workload_removed', { workload: name });
    return undefined;
  }

  function forget(name: string): PassOutcome {
    workloads.remove(name);
    watches.forget(name);
    return { kind: 'settled' };
  }

  async function settle(
    workload: Stored<RuntimeWorkload>,
    s: WorkloadSnapshot,
    result: WorkloadResult,
  ): Promise<PassOutcome> {
    const status = makeWorkloadStatus(s, result, workload.status?.testsPassed, clock.date());
    await applyStatus(client, kinds.runtimeWorkload, workload, status);
    for (const note of transitionEvents(workload.status?.conditions, status.conditions, watched)) {
      options.events.record({ regarding: workload, ...note });
    }
    if (result.kind !== 'in_use' || !watches.isRunning(s.name)) return { kind: 'settled' };
    return { kind: 'waiting', afterMs: Math.max(1, options.maxStreamMs - watches.current(s.name)) };
  }

  return { reconcile };
}

function uses({ spec }: Stored<GatewayReport>, workload: string): boolean {
  return spec.inUse.some((use) => use.workload === workload);
}

function namesOf(reports: readonly Stored<GatewayReport>[]): readonly string[] {
  return reports.map(({ metadata }) => metadata.name).toSorted();
}
