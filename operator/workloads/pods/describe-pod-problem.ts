import type { BuiltinCondition, ContainerStatus, Deployment, Pod } from '#kube/client/builtin-types';
import type { WorkloadProblem } from '../ports.ts';

/** The longest reason that is shown. */
const maxReason = 600;

const pullFailures: ReadonlySet<string> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
]);
/** Reasons of the kubelet for a container that is being started. */
const starting: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing']);

/**
 * The reason why a workload has fewer ready pods than requested; undefined if no reason is known. The texts come from
 * the runtime, the kubelet, the scheduler and the API server, never from a user.
 */
export function describePodProblem(
  deployment: Pick<Deployment, 'status'> | undefined,
  pods: readonly Pick<Pod, 'metadata' | 'status'>[],
): WorkloadProblem | undefined {
  const problem =
    replicaFailure(deployment) ??
    pods.toSorted(byName).reduce<WorkloadProblem | undefined>((found, pod) => found ?? podProblem(pod), undefined);
  return problem === undefined ? undefined : { ...problem, message: oneLine(problem.message) };
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, maxReason);
}

/** A quota, a policy of the namespace or an admission plugin refuses pods. */
function replicaFailure(deployment: Pick<Deployment, 'status'> | undefined): WorkloadProblem | undefined {
  const failure = conditionOf(deployment?.status?.conditions, 'ReplicaFailure');
  if (failure?.status !== 'True') return undefined;
  // Pod names are left out: each attempt names another pod, and a condition message must not change with it.
  const cause = failure.message?.replace(/^(pods) "[^"]*"/, '$1') ?? failure.reason ?? 'the API server refuses them';
  return { reason: 'PodsForbidden', message: `pods cannot be created: ${cause}` };
}

function podProblem({ metadata, status }: Pick<Pod, 'metadata' | 'status'>): WorkloadProblem | undefined {
  // A pod under deletion does not describe the state of the remaining pods.
  if (metadata.deletionTimestamp !== undefined || status === undefined) return undefined;
  const scheduled = conditionOf(status.conditions, 'PodScheduled');
  if (scheduled?.status === 'False') {
    const cause = scheduled.message ?? scheduled.reason ?? 'unschedulable';
    return { reason: 'Unschedulable', message: `a pod is pending because no node accepts it: ${cause}` };
  }
  if (status.phase === 'Failed') {
    return ended(`a pod failed: ${status.message ?? status.reason ?? 'no reason was given'}`);
  }
  return status.containerStatuses?.map(containerProblem).find((found) => found !== undefined);
}

function containerProblem(container: ContainerStatus): WorkloadProblem | undefined {
  const { waiting, terminated } = container.state ?? {};
  const end = terminated ?? container.lastState?.terminated;
  if (waiting?.reason !== undefined && pullFailures.has(waiting.reason)) {
    return { reason: 'ImagePullFailed', message: `the image cannot be pulled${pullError(waiting.message)}` };
  }
  if (container.ready) return undefined;
  if (end !== undefined) return ended(endSentence(end));
  if (waiting?.reason === undefined || starting.has(waiting.reason)) return undefined;
  const message = `a container does not start (${waiting.reason}): ${waiting.message ?? 'no reason was given'}`;
  return { reason: 'ContainerNotStarted', message };
}

function ended(message: string): WorkloadProblem {
  return { reason: 'ProcessEnded', message };
}

/** During its backoff the kubelet adds a prefix to the error. */
function pullError(message: string | undefined): string {
  const cause = message?.replace(/^Back-off pulling image "[^"]*"(: )?/, '').replace(/^ErrImagePull: /, '') ?? '';
  return cause === '' ? '' : `: ${cause}`;
}

type Terminated = NonNullable<NonNullable<ContainerStatus['state']>['terminated']>;

function endSentence({ message, reason, exitCode }: Terminated): string {
  const text = message?.trim() ?? '';
  if (text !== '') return text;
  if (reason === 'OOMKilled') return 'killed because it exceeded its memory limit (OOMKilled)';
  return `ended with code ${exitCode}${reason === undefined || reason === 'Error' ? '' : ` (${reason})`}`;
}

function conditionOf(conditions: readonly BuiltinCondition[] | undefined, type: string): BuiltinCondition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

function byName(a: Pick<Pod, 'metadata'>, b: Pick<Pod, 'metadata'>): number {
  return a.metadata.name < b.metadata.name ? -1 : 1;
}
