import type { EndpointSlice, Pod } from '#kube/client/builtin-types';
import type { Stored } from '#resources/metadata';
import { isPodOf } from '../../pods/is-pod-of.ts';
import type { WorkloadProblem } from '../../ports.ts';

/**
 * The pods to which the Service of a workload sends requests: how many of the pods belong to its Deployment, and a
 * problem if one does not, because any pod with the right label becomes an endpoint. An endpoint whose pod the watch
 * has not reported yet is ignored.
 */
export function readEndpoints(
  workload: string,
  slices: readonly EndpointSlice[],
  pods: readonly Stored<Pod>[],
): { readonly ready: number; readonly problem: WorkloadProblem | undefined } {
  const targets = new Set(
    slices
      .flatMap(({ endpoints }) => endpoints ?? [])
      .filter(({ conditions }) => conditions?.ready !== false)
      .map(({ targetRef }) => targetRef?.uid),
  );
  const reached = pods.filter(({ metadata }) => targets.has(metadata.uid));
  const foreign = reached.filter((pod) => !isPodOf(workload, pod)).map(({ metadata }) => metadata.name);
  const [first] = foreign.toSorted();
  return {
    ready: reached.length - foreign.length,
    problem:
      first === undefined
        ? undefined
        : {
            reason: 'ForeignEndpoint',
            message: `the pod ${first} is an endpoint of the Service ${workload} but does not belong to its Deployment: remove the pod or its label portcullis.dev/workload`,
          },
  };
}
