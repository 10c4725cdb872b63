import type { BuiltinCondition, ContainerStatus, Deployment, Pod } from '#kube/client/builtin-types';

/** The longest reason that is shown. */
const maxReason = 600;

const pullFailures: ReadonlySet<string> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
]);
/** The kubelet is at work: nothing is wrong yet. */
const starting: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing']);

/**
 * Why a workload does not run, in one sentence; undefined where nothing is known to be wrong. Every text in it was
 * written by the runtime, the kubelet or the scheduler, none by a user.
 */
export function describeProblem(
  deployment: Pick<Deployment, 'status'> | undefined,
  pods: readonly Pick<Pod, 'metadata' | 'status'>[],
): string | undefined {
  const problem =
    cannotBeMade(deployment) ??
    pods.toSorted(byName).reduce<string | undefined>((found, pod) => found ?? ofPod(pod), undefined);
  return problem?.replace(/\s+/g, ' ').trim().slice(0, maxReason);
}

/** A quota, a policy of the namespace or an admission plugin refuses pods. */
function cannotBeMade(deployment: Pick<Deployment, 'status'> | undefined): string | undefined {
  const failure = conditionOf(deployment?.status?.conditions, 'ReplicaFailure');
  if (failure?.status !== 'True') return undefined;
  // Each try has a pod of another name: the sentence must not change with it.
  const message = failure.message?.replace(/^(pods) "[^"]*"/, '$1');
  return `pods cannot be made: ${message ?? failure.reason ?? 'the API server refuses them'}`;
}

function ofPod({ metadata, status }: Pick<Pod, 'metadata' | 'status'>): string | undefined {
  // A pod that is told to end says nothing of those that stay.
  if (metadata.deletionTimestamp !== undefined || status === undefined) return undefined;
  const scheduled = conditionOf(status.conditions, 'PodScheduled');
  if (scheduled?.status === 'False')
    return `no node takes a pod: ${scheduled.message ?? scheduled.reason ?? 'unschedulable'}`;
  if (status.phase === 'Failed') return `a pod failed: ${status.message ?? status.reason ?? 'no reason was given'}`;
  return status.containerStatuses?.map(ofContainer).find((found) => found !== undefined);
}

function ofContainer(container: ContainerStatus): string | undefined {
  const { waiting, terminated } = container.state ?? {};
  const ended = terminated ?? container.lastState?.terminated;
  if (waiting?.reason !== undefined && pullFailures.has(waiting.reason)) {
    return `the image cannot be pulled${causeOf(waiting.message)}`;
  }
  if (container.ready) return undefined;
  if (ended !== undefined) return howItEnded(ended);
  if (waiting?.reason === undefined || starting.has(waiting.reason)) return undefined;
  return `a container does not start (${waiting.reason}): ${waiting.message ?? 'no reason was given'}`;
}

/** The kubelet says the same of the wait after a failure as of the failure, behind some words. */
function causeOf(message: string | undefined): string {
  const cause = message?.replace(/^Back-off pulling image "[^"]*"(: )?/, '').replace(/^ErrImagePull: /, '') ?? '';
  return cause === '' ? '' : `: ${cause}`;
}

type Ended = NonNullable<NonNullable<ContainerStatus['state']>['terminated']>;

function howItEnded({ message, reason, exitCode }: Ended): string {
  const text = message?.trim() ?? '';
  if (text !== '') return text;
  if (reason === 'OOMKilled') return 'ended by the system: it took more memory than its limit';
  return `ended with code ${exitCode}${reason === undefined || reason === 'Error' ? '' : ` (${reason})`}`;
}

function conditionOf(conditions: readonly BuiltinCondition[] | undefined, type: string): BuiltinCondition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

function byName(a: Pick<Pod, 'metadata'>, b: Pick<Pod, 'metadata'>): number {
  return a.metadata.name < b.metadata.name ? -1 : 1;
}
