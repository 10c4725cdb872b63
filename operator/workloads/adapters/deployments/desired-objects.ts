import { builtinKinds } from '#kube/client/builtin-kinds';
import type { KubeObject } from '#kube/client/kube-object';
import { apiVersion, type Kind, kinds } from '#resources/kinds';
import type { WorkloadManifest } from './manifest.ts';

/** Below this number of pods a budget would only keep nodes from being drained. */
const leastForBudget = 2;

export type WorkloadPart = {
  readonly kind: Kind;
  /** The object as it must be; undefined where there must be none. */
  readonly desired: KubeObject | undefined;
};

/** The kinds of which a workload has at most one object, of its own name. */
export const workloadKinds = [
  builtinKinds.networkPolicy,
  builtinKinds.service,
  builtinKinds.deployment,
  builtinKinds.podDisruptionBudget,
] as const satisfies readonly Kind[];

/**
 * The objects of a workload, in the order in which they are made: who may reach the pods is said before there are any.
 * They hold what the manifest says and belong to the RuntimeWorkload; the number of pods alone is not the manifest's.
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

/** UID of the owner that controls an object. */
export function controllerOf(object: KubeObject): string | undefined {
  return object.metadata.ownerReferences?.find((owner) => owner.controller === true)?.uid;
}
