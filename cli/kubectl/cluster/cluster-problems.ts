import { sentence } from '#diagnosis/sentence';
import type { InstallationProblem } from '#diagnosis/surroundings';
import type {
  ContainerStatus,
  CoreEvent,
  Deployment,
  PersistentVolumeClaim,
  Pod,
  StatefulSet,
} from '#kube/client/builtin-types';
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
const order: readonly Component[] = [
  'postgres',
  'operator',
  'echo',
  'issuer',
  'management',
  'retrieval',
  'worker',
  'memory',
  'memory-worker',
  'catalogue',
  'gateway',
];

/**
 * The component that an object of the chart belongs to; undefined for pods of workloads and agents, whose conditions the
 * operator writes.
 */
function componentOf(labels: Readonly<Record<string, string>> | undefined): Component | undefined {
  const label = labels?.[componentLabel];
  return order.find((component) => component === label);
}

/**
 * Problems that prevent the components of an installation from running: components that others need are first, and
 * starting pods are last. The function is pure.
 */
export function clusterProblems(objects: ClusterObjects): readonly InstallationProblem[] {
  const { pods, deployments, statefulSets } = objects;
  const found = [
    ...deployments.flatMap((one) => deploymentProblem(one)),
    ...statefulSets.flatMap((one) => statefulSetProblem(one, objects)),
    ...pods.flatMap((one) => podProblem(one, objects)),
  ];
  const rank = ({ component, reason }: InstallationProblem): number =>
    order.indexOf(component) + (reason === 'PodStarting' ? order.length : 0);
  return found.toSorted((a, b) => rank(a) - rank(b));
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
  const part = component === 'postgres' ? `Database pod ${metadata.name}` : `Pod ${metadata.name}`;
  const problem = (reason: string, message: string): readonly InstallationProblem[] => [
    { component, part, reason, message: sentence(message) },
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
  const [cause] = containers.flatMap((container) => containerProblem(container, metadata.name, objects.events) ?? []);
  return cause === undefined ? [] : problem(cause.reason, cause.message);
}

type Cause = Pick<InstallationProblem, 'reason' | 'message'>;

const pullFailures = /^(ErrImagePull|ImagePullBackOff|InvalidImageName|ErrImageNeverPull)$/;

/** The reason why a container of a pod is not ready; undefined for a ready container. */
function containerProblem(container: ContainerStatus, pod: string, events: readonly CoreEvent[]): Cause | undefined {
  const { ready, state = {}, lastState, name } = container;
  if (ready) return undefined;
  const { waiting, terminated } = state;
  const ended = terminated ?? lastState?.terminated;
  if (waiting !== undefined && pullFailures.test(waiting.reason ?? '')) {
    const secret = newestEvent(events, 'Pod', pod, 'FailedToRetrieveImagePullSecret');
    const message = secret ?? `${waiting.reason}: ${waiting.message ?? 'its image cannot be pulled'}`;
    return { reason: 'ImagePullFailed', message };
  }
  if (waiting?.reason !== undefined && /^Create\w*Error$/.test(waiting.reason))
    return { reason: 'ContainerNotStarted', message: `${waiting.reason}: ${waiting.message ?? name}` };
  if (ended !== undefined && state.running === undefined)
    return { reason: 'ContainerCrashes', message: `its container ${name} ${endOf(ended)}` };
  if (state.running === undefined) {
    const mount = newestEvent(events, 'Pod', pod, 'FailedMount');
    if (mount !== undefined) return { reason: 'ContainerNotStarted', message: mount };
    return {
      reason: 'PodStarting',
      message: `its container ${name} waits: ${waiting?.reason ?? 'it is being created'}`,
    };
  }
  const probe = newestProbe(events, pod, 'Readiness', Date.parse(state.running.startedAt ?? ''));
  const before = ended === undefined ? '' : `; before, the container ${endOf(ended)}`;
  if (probe !== undefined) return { reason: 'PodNotReady', message: `it is not ready: ${probe}${before}` };
  if (ended !== undefined) return { reason: 'PodNotReady', message: `it is not ready${before}` };
  return { reason: 'PodStarting', message: 'it is not ready yet' };
}

type Terminated = NonNullable<NonNullable<ContainerStatus['state']>['terminated']>;

function endOf({ exitCode, reason, message }: Terminated): string {
  const named = reason === undefined || reason === 'Error' ? '' : ` (${reason})`;
  return `ended with exit code ${exitCode}${named}${message === undefined ? '' : `: ${message.trim()}`}`;
}

/**
 * Whether the liveness probe of a pod that is not ready has failed since its containers started. A process that is only
 * overloaded or waits for a dependency fails only its readiness probe.
 */
export function isFrozen({ metadata, status }: Stored<Pod>, events: readonly CoreEvent[]): boolean {
  const containers = status?.containerStatuses ?? [];
  if (containers.every(({ ready }) => ready)) return false;
  return containers.some(
    ({ state }) =>
      newestProbe(events, metadata.name, 'Liveness', Date.parse(state?.running?.startedAt ?? '')) !== undefined,
  );
}

/** The newest event of the kubelet about a failed probe of a pod whose container has run since then. */
function newestProbe(
  events: readonly CoreEvent[],
  pod: string,
  probe: 'Liveness' | 'Readiness',
  since: number,
): string | undefined {
  const failed = events.filter(
    ({ message, lastTimestamp }) =>
      message?.startsWith(`${probe} probe failed`) === true && Date.parse(lastTimestamp ?? '') >= since,
  );
  return newestEvent(failed, 'Pod', pod, 'Unhealthy');
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
