import type { Logger } from '#kit/log/logger';
import type { Clock } from '#kit/time/clock';
import { type Ensured, ensureObject, NameConflictError } from '#kube/apply/ensure-object';
import type { KubeClient } from '#kube/client/client';
import { isKubeError } from '#kube/client/kube-error';
import { controllerOf, type KubeObject } from '#kube/client/kube-object';
import type { EventRecorder } from '#kube/events/event-recorder';
import { apiVersion, type Kind, kinds } from '#resources/kinds';
import { workloadHost } from '#resources/runtime-workload';
import type { WorkloadTemplate } from '../../../environment/workload-template.ts';
import { startController } from '../../../reconcile/controller.ts';
import { BrokenError, outcomeOfError, type PassOutcome } from '../../../reconcile/outcome.ts';
import type { ReconcileMeter } from '../../../reconcile/reconcile-metrics.ts';
import { describePodProblem } from '../../pods/describe-pod-problem.ts';
import { isPodOf } from '../../pods/is-pod-of.ts';
import type {
  RunnableWorkload,
  WorkloadObservation,
  WorkloadProblem,
  WorkloadRequest,
  Workloads,
} from '../../ports.ts';

import { desiredObjects, type WorkloadPart, workloadKinds } from './desired-objects.ts';
import { readDeploymentManifest, renderDeploymentManifest, type WorkloadManifest } from './manifest.ts';
import { watchClusterObjects } from './watched-objects.ts';
import { readEndpoints } from './workload-pods.ts';

/** Workloads whose objects are applied at the same time. */
const concurrency = 4;
/** Longest part of an API server's error message that a condition shows. */
const maxRefusal = 300;
/**
 * Pause before objects are created again, milliseconds. Objects are garbage collected together with their
 * RuntimeWorkload, and the pause lets the operator see the deletion of the RuntimeWorkload first.
 */
const recreateAfterMs = 1_000;
/** Manifests whose validation result is cached. */
const maxCachedManifests = 16_384;

type DeploymentsOptions = {
  readonly client: KubeClient;
  /** Pod settings of new workloads. */
  readonly template: WorkloadTemplate;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meter: ReconcileMeter;
  readonly events: Pick<EventRecorder, 'record'>;
};

/** Workloads in a cluster; observations are empty before `synced` resolves. */
export type Deployments = Workloads & {
  readonly synced: Promise<void>;
  /** Milliseconds since the least recent contact of a watch with the API server. */
  silenceMs(): number;
};

type RequestedWorkload = {
  request: WorkloadRequest;
  readonly manifest: WorkloadManifest;
  readonly address: string;
  /** Whether a process at the address was ready before. */
  wasReady: boolean;
  /** Why the Kubernetes objects of a workload cannot be applied. */
  refusal: string | undefined;
  /** Kinds whose object was applied since the operator started. */
  readonly applied: Set<Kind>;
  /** The observation that the listener was last called for, as JSON. */
  reported: string;
};

/**
 * Workloads as Deployments, each with a Service, a NetworkPolicy and, from two pods on, a PodDisruptionBudget. The
 * RuntimeWorkload owns them and its manifest is their desired state; drift is corrected. The pods keep running when the
 * operator ends. The lifecycle of a workload is described in docs/design/workloads.md.
 */
export function createDeployments(options: DeploymentsOptions): Deployments {
  const { client, template, clock, logger, meter, events } = options;
  const requested = new Map<string, RequestedWorkload>();
  /** Removed workloads whose objects are still to be deleted, with the UID of their RuntimeWorkload. */
  const removed = new Map<string, string>();
  const readable = new Map<string, boolean>();
  let listener: (name: string) => void = () => undefined;
  const queue = startController({ name: 'deployment', concurrency, logger, meter, reconcile });
  const watched = watchClusterObjects({ client, logger, clock, onChange: handleChange });

  function handleChange(name: string, isDeleted: boolean): void {
    const workload = requested.get(name);
    if (workload === undefined) return;
    if (isDeleted) queue.addAfter(name, recreateAfterMs);
    else queue.add(name);
    notify(name, workload);
  }

  function notify(name: string, workload: RequestedWorkload): void {
    const observed = JSON.stringify(observationOf(workload));
    if (observed === workload.reported) return;
    workload.reported = observed;
    listener(name);
  }

  async function reconcile(name: string): Promise<PassOutcome> {
    await watched.synced;
    await deleteObjects(name);
    const workload = requested.get(name);
    if (workload !== undefined) await applyObjects(name, workload);
    return { kind: 'settled' };
  }

  async function applyObjects(name: string, workload: RequestedWorkload): Promise<void> {
    try {
      for (const part of desiredObjects(workload.manifest, workload.request)) await applyObject(name, workload, part);
      workload.refusal = undefined;
    } catch (error) {
      workload.refusal = refusalOf(error) ?? workload.refusal;
      throw error instanceof NameConflictError ? new BrokenError('Refused', error.message, { cause: error }) : error;
    } finally {
      notify(name, workload);
    }
  }

  async function applyObject(name: string, workload: RequestedWorkload, part: WorkloadPart): Promise<void> {
    const { kind, desired } = part;
    const { uid } = workload.request;
    const current = watched.object(kind, name);
    if (desired === undefined) {
      workload.applied.delete(kind);
      if (current === undefined || controllerOf(current) !== uid) return;
      await client.delete(kind, name, { uid: current.metadata.uid }).catch(ignoreAbsent);
      return;
    }
    const { action, changed, notKept } = await ensureObject(client, kind, desired, { current });
    if (action !== 'unchanged') logger.info('workload_object_written', { workload: name, kind: kind.kind, action });
    for (const path of notKept) logger.warn('workload_object_not_kept', { workload: name, kind: kind.kind, path });
    const correction = correctionOf(action, changed, workload.applied.has(kind));
    workload.applied.add(kind);
    if (correction === undefined) return;
    events.record({
      regarding: { apiVersion, kind: kinds.runtimeWorkload.kind, metadata: { name, uid } },
      type: 'Warning',
      reason: 'DriftCorrected',
      action: 'Apply',
      note: `the ${kind.kind} ${name} ${correction}`,
    });
  }

  /** Each object is read live, because the watch may not have reported an object that was just created. */
  async function deleteObjects(name: string): Promise<void> {
    const owner = removed.get(name);
    if (owner === undefined) return;
    for (const kind of [...workloadKinds].toReversed()) {
      const object = await client.get(kind, name);
      if (object === undefined || controllerOf(object) !== owner) continue;
      await client.delete(kind, name, { uid: object.metadata.uid }).catch(ignoreAbsent);
    }
    if (removed.get(name) === owner) removed.delete(name);
  }

  function observationOf(workload: RequestedWorkload): WorkloadObservation {
    const { name, uid } = workload.request;
    const deployment = watched.deployment(name);
    const service = watched.service(name);
    const isOwnDeployment = deployment !== undefined && controllerOf(deployment) === uid;
    const isOwnService = service !== undefined && controllerOf(service) === uid;
    const pods = watched.pods(name);
    const endpoints = readEndpoints(name, watched.endpointSlices(name), pods);
    const isServed = isOwnDeployment && isOwnService && endpoints.problem === undefined;
    const ready = isServed ? Math.min(deployment.status?.readyReplicas ?? 0, endpoints.ready) : 0;
    workload.wasReady ||= ready > 0;
    return { addresses: workload.wasReady ? [workload.address] : [], ready, problem: problemOf(workload) };

    function problemOf({ refusal }: RequestedWorkload): WorkloadProblem | undefined {
      if (refusal !== undefined) return { reason: 'ObjectRefused', message: refusal };
      if (!isOwnDeployment) return undefined;
      return (
        endpoints.problem ??
        describePodProblem(
          deployment,
          pods.filter((pod) => isPodOf(name, pod)),
        )
      );
    }
  }

  function ensure(request: WorkloadRequest): void {
    const { name } = request;
    const held = requested.get(name);
    if (held === undefined || held.request.uid !== request.uid) {
      begin(request);
    } else {
      if (held.request.manifest !== request.manifest) throw new TypeError(`the workload ${name} has another manifest`);
      const isSame = held.request.replicas === request.replicas;
      held.request = request;
      if (isSame) return;
    }
    queue.add(name);
  }

  /**
   * Whether a manifest can be read. This is called for every workload in every pass of its bindings; the result is
   * cached because the text is immutable.
   */
  function isReadable(manifest: string): boolean {
    const known = readable.get(manifest);
    if (known !== undefined) return known;
    if (readable.size >= maxCachedManifests) readable.clear();
    const found = readDeploymentManifest(manifest) !== undefined;
    readable.set(manifest, found);
    return found;
  }

  function begin(request: WorkloadRequest): void {
    const { name, manifest: text, addresses } = request;
    const manifest = readDeploymentManifest(text, name);
    if (manifest === undefined) throw new TypeError(`the workload ${name} cannot be run here`);
    const address = `http://${workloadHost(name, client.namespace)}:${manifest.port}`;
    const wasReady = addresses.includes(address);
    if (removed.get(name) === request.uid) removed.delete(name);
    requested.set(name, { request, manifest, address, wasReady, refusal: undefined, applied: new Set(), reported: '' });
  }

  return {
    canRun: ({ manifest }: RunnableWorkload) => isReadable(manifest),
    render: (rendering) => renderDeploymentManifest(rendering, template),
    ensure,
    observe(name) {
      const workload = requested.get(name);
      return workload === undefined ? { addresses: [], ready: 0, problem: undefined } : observationOf(workload);
    },
    remove(name) {
      const workload = requested.get(name);
      if (workload === undefined) return;
      requested.delete(name);
      removed.set(name, workload.request.uid);
      queue.add(name);
    },
    has: (name) => requested.has(name),
    onChange(next) {
      listener = next;
    },
    synced: watched.synced,
    silenceMs: () => watched.silenceMs(),
    async [Symbol.asyncDispose]() {
      await queue[Symbol.asyncDispose]();
      await watched[Symbol.asyncDispose]();
    },
  };
}

/** The error of the API server about an object; undefined for a connection error, which is not a fault of the object. */
function refusalOf(error: unknown): string | undefined {
  if (error instanceof NameConflictError) return error.message;
  if (isKubeError(error, 'invalid', 'forbidden')) {
    return `the API server refuses an object of the workload: ${error.message.slice(0, maxRefusal)}`;
  }
  const outcome = outcomeOfError(error);
  return outcome.kind === 'broken' && outcome.reason !== 'ServerUnavailable' ? outcome.message : undefined;
}

/**
 * The corrections of an object that another client changed; undefined where the operator wrote it for the first time
 * or changed the number of pods.
 */
function correctionOf(action: Ensured<KubeObject>['action'], changed: readonly string[], wasApplied: boolean) {
  if (action === 'created') return wasApplied ? 'was missing and was created again' : undefined;
  const paths = changed.filter((path) => path !== '/spec/replicas');
  return paths.length === 0 ? undefined : `was changed by another client; restored: ${paths.join(', ')}`;
}

function ignoreAbsent(error: unknown): void {
  if (!isKubeError(error, 'not_found', 'conflict')) throw error;
}
