import { sentence } from '#diagnosis/sentence';
import type { InstallationProblem } from '#diagnosis/surroundings';
import type { CoreEvent, Deployment, PersistentVolumeClaim, Pod, StatefulSet } from '#kube/client/builtin-types';
import type { Stored } from '#resources/metadata';

type Component = InstallationProblem['component'];

/** The objects of an installation in a namespace that the caller may read. */
export type ClusterObjects = {
  readonly pods: readonly Stored<Pod>[];
  readonly deployments: readonly Stored<Deployment>[];
  readonly statefulSets: readonly Stored<StatefulSet>[];
  readonly claims: readonly Stored<PersistentVolumeClaim>[];
  readonly events: readonly CoreEvent[];
};

const componentLabel = 'app.kubernetes.io/component';
/** Each component is listed after the components that it needs. */
const order: readonly Component[] = ['operator', 'echo', 'postgres', 'issuer', 'management', 'gateway'];

/** The component that an object of the chart belongs to; undefined for workloads, whose conditions the operator writes. */
function componentOf(labels: Readonly<Record<string, string>> | undefined): Component | undefined {
  const label = labels?.[componentLabel];
  return order.find((component) => component === label);
}

/** Problems that keep the components of an installation from running; components that others need come first. Pure. */
export function clusterProblems(objects: ClusterObjects): readonly InstallationProblem[] {
  const { pods, deployments, statefulSets } = objects;
  const found = [
    ...deployments.flatMap((one) => deploymentProblem(one)),
    ...statefulSets.flatMap((one) => statefulSetProblem(one, objects)),
    ...pods.flatMap((one) => podProblem(one, objects)),
  ];
  return found.toSorted((a, b) => order.indexOf(a.component) - order.indexOf(b.component));
}

function deploymentProblem({ metadata, spec, status }: Stored<Deployment>): readonly InstallationProblem[] {
  const component = componentOf(metadata.labels);
  if (component === undefined) return [];
  const part = `Deployment ${metadata.name}`;
  if (spec.replicas === 0) {
    return [{ component, part, reason: 'ScaledToZero', message: 'It is scaled to zero replicas.' }];
  }
  const failure = status?.conditions?.find(({ type, status: value }) => type === 'ReplicaFailure' && value === 'True');
  if (failure === undefined) return [];
  const message = sentence(failure.message ?? 'its pods cannot be created');
  return [{ component, part, reason: 'PodsForbidden', message }];
}

/** A StatefulSet has no condition for pods that cannot be created: its controller reports it only as an event. */
function statefulSetProblem(
  { metadata, spec, status }: Stored<StatefulSet>,
  { events }: ClusterObjects,
): readonly InstallationProblem[] {
  const component = componentOf(metadata.labels);
  if (component === undefined) return [];
  const part = `StatefulSet ${metadata.name}`;
  if (spec.replicas === 0) {
    return [{ component, part, reason: 'ScaledToZero', message: 'It is scaled to zero replicas.' }];
  }
  if ((status?.replicas ?? 0) >= (spec.replicas ?? 1)) return [];
  const refused = newestEvent(events, 'StatefulSet', metadata.name, 'FailedCreate');
  if (refused === undefined) return [];
  return [{ component, part, reason: 'PodsForbidden', message: sentence(refused) }];
}

function podProblem(pod: Stored<Pod>, objects: ClusterObjects): readonly InstallationProblem[] {
  const { metadata, status } = pod;
  const component = componentOf(metadata.labels);
  if (component === undefined || metadata.deletionTimestamp !== undefined) return [];
  const problem = (reason: string, message: string): readonly InstallationProblem[] => [
    { component, part: `Pod ${metadata.name}`, reason, message: sentence(message) },
  ];
  const unscheduled = status?.conditions?.find(
    ({ type, status: value }) => type === 'PodScheduled' && value === 'False',
  );
  if (unscheduled !== undefined) {
    const claim = claimProblem(pod, objects);
    return claim === undefined
      ? problem('Unschedulable', unscheduled.message ?? 'no node accepts it')
      : problem('ClaimPending', claim);
  }
  if (isFrozen(pod, objects.events)) {
    return problem('PodNotAnswering', 'it is not answering: its liveness probe fails, and requests to it hang');
  }
  const containers = status?.containerStatuses ?? [];
  for (const { state, lastState, name } of containers) {
    const { reason, message } = state?.waiting ?? {};
    if (reason === undefined) continue;
    if (/^(ErrImagePull|ImagePullBackOff|InvalidImageName|ErrImageNeverPull)$/.test(reason)) {
      const secret = newestEvent(objects.events, 'Pod', metadata.name, 'FailedToRetrieveImagePullSecret');
      return problem('ImagePullFailed', secret ?? `${reason}: ${message ?? 'its image cannot be pulled'}`);
    }
    if (/^Create\w*Error$/.test(reason)) return problem('ContainerNotStarted', `${reason}: ${message ?? name}`);
    if (reason === 'CrashLoopBackOff') {
      const { exitCode, message: last } = lastState?.terminated ?? {};
      const words = last === undefined ? '' : `: ${last.trim()}`;
      return problem('ContainerCrashes', `its container ${name} ended with exit code ${exitCode ?? 'unknown'}${words}`);
    }
  }
  return [];
}

/**
 * Whether the liveness probe of a pod that is not ready has failed since its containers started. A process that is only
 * overloaded or waits for something fails its readiness probe.
 */
export function isFrozen({ metadata, status }: Stored<Pod>, events: readonly CoreEvent[]): boolean {
  const containers = status?.containerStatuses ?? [];
  if (containers.every(({ ready }) => ready)) return false;
  const failed = events
    .filter(({ involvedObject, reason }) => reason === 'Unhealthy' && involvedObject.kind === 'Pod')
    .filter(({ involvedObject, message }) => {
      return involvedObject.name === metadata.name && message?.startsWith('Liveness probe failed') === true;
    })
    .map(({ lastTimestamp }) => Date.parse(lastTimestamp ?? ''));
  return containers.some(({ state }) => {
    const startedAt = Date.parse(state?.running?.startedAt ?? '');
    return failed.some((at) => at >= startedAt);
  });
}

/** Why a claim of the pod has no volume. */
function claimProblem({ spec }: Stored<Pod>, { claims, events }: ClusterObjects): string | undefined {
  const named = JSON.stringify(spec['volumes'] ?? []);
  const pending = claims.find(
    ({ metadata, status }) => status?.phase === 'Pending' && named.includes(`"claimName":"${metadata.name}"`),
  );
  if (pending === undefined) return undefined;
  const { name } = pending.metadata;
  const failed = newestEvent(events, 'PersistentVolumeClaim', name, 'ProvisioningFailed');
  const text = failed ?? newestEvent(events, 'PersistentVolumeClaim', name, 'FailedBinding');
  return `its PersistentVolumeClaim ${name} has no volume${text === undefined ? '' : `: ${text}`}`;
}

function newestEvent(events: readonly CoreEvent[], kind: string, name: string, reason: string): string | undefined {
  const about = events.filter(
    ({ involvedObject, reason: found }) =>
      found === reason && involvedObject.kind === kind && involvedObject.name === name,
  );
  return about.toSorted((a, b) => (a.lastTimestamp ?? '').localeCompare(b.lastTimestamp ?? '')).at(-1)?.message;
}
