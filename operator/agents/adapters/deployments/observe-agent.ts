import type { AgentState } from '#contracts/agent-state';
import type { Deployment, Pod } from '#kube/client/builtin-types';
import type { Stored } from '#resources/metadata';
import { describePodProblem } from '../../../workloads/pods/describe-pod-problem.ts';
import { isPodOf } from '../../../workloads/pods/is-pod-of.ts';
import type { AgentHostProblem, AgentObservation } from '../../ports.ts';
import type { PodLook } from './agent-looks.ts';

/** The pod of a version that may answer; undefined if there is no pod, or only a terminating one. */
export function currentPod(workload: string, pods: readonly Stored<Pod>[]): Stored<Pod> | undefined {
  return pods.find(
    (pod) =>
      isPodOf(workload, pod) &&
      pod.metadata.deletionTimestamp === undefined &&
      pod.status?.phase === 'Running' &&
      pod.status.podIP !== undefined,
  );
}

type AgentFacts = {
  /** Why the objects of the version were not applied. */
  readonly refusal: AgentHostProblem | undefined;
  readonly deployment: Stored<Deployment> | undefined;
  readonly pods: readonly Stored<Pod>[];
  readonly pod: Stored<Pod> | undefined;
  readonly look: Pick<PodLook, 'seen' | 'hasLooked' | 'answers'> | undefined;
};

/**
 * The observed state of the process of a version; undefined until a running pod was queried. A process counts as ready
 * only when the kubelet also reports it ready, because before that the Service sends it no requests.
 */
export function observeAgent(workload: string, facts: AgentFacts): AgentObservation | undefined {
  const { refusal, deployment, pods, pod, look } = facts;
  const none = { state: undefined, card: 'unread', problem: undefined } as const;
  if (refusal !== undefined) return { ...none, problem: refusal };
  const own = pods.filter((one) => isPodOf(workload, one));
  if (pod === undefined) return { ...none, problem: describePodProblem(deployment, own) };
  if (look?.hasLooked !== true) return undefined;
  const problem = look.answers || isReady(pod) ? undefined : describePodProblem(deployment, own);
  if (look.seen === undefined || problem !== undefined) return { ...none, problem };
  const { state, card } = look.seen;
  return { state: isReady(pod) || state === undefined ? state : notServed(state), card, problem: undefined };
}

function isReady({ status }: Stored<Pod>): boolean {
  return status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') === true;
}

function notServed(state: AgentState): AgentState {
  if (!state.ready) return state;
  return {
    ...state,
    ready: false,
    problems: [{ code: 'starting', message: 'the pod is not ready to receive calls' }],
  };
}
