import { builtinKinds } from '#kube/client/builtin-kinds';
import type { KubeObject } from '#kube/client/kube-object';
import { apiVersion, type Kind, kinds } from '#resources/kinds';
import type { WorkloadManifest } from './manifest.ts';

/** A workload with fewer pods gets no disruption budget: it would only block the drain of a node. */
const leastForBudget = 2;

export type WorkloadPart = {
  readonly kind: Kind;
  /** The desired object; undefined if it must not exist. */
  readonly desired: KubeObject | undefined;
};

/** Kinds of the objects of a workload. There is at most one object of each kind; it has the name of the workload. */
export const workloadKinds = [
  builtinKinds.networkPolicy,
  builtinKinds.service,
  builtinKinds.deployment,
  builtinKinds.podDisruptionBudget,
] as const satisfies readonly Kind[];

/**
 * The objects of a workload in the order of their creation: access to the pods is restricted before the first pod. The
 * objects come from the manifest and are owned by the RuntimeWorkload; only the number of pods is not part of the
 * manifest.
 */
export function desiredObjects(
  manifest: WorkloadManifest,
  { name, uid, replicas }: { readonly name: string; readonly uid: string; readonly replicas: number },
): readonly WorkloadPart[] {
  const owner = { apiVersion, kind: kinds.runtimeWorkload.kind, name, uid, controller: true };
  const owned = <O extends KubeObject>(object: O): O => ({
    ...object,
    metadata: { ...object.metadata, ownerReferences: [owner] },
  });
  const { networkPolicy, service, deployment, podDisruptionBudget } = manifest;
  return [
    { kind: builtinKinds.networkPolicy, desired: networkPolicy === undefined ? undefined : owned(networkPolicy) },
    { kind: builtinKinds.service, desired: owned(service) },
    { kind: builtinKinds.deployment, desired: owned({ ...deployment, spec: { ...deployment.spec, replicas } }) },
    {
      kind: builtinKinds.podDisruptionBudget,
      desired: replicas < leastForBudget ? undefined : owned(podDisruptionBudget),
    },
  ];
}
