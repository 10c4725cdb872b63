import { apiVersion, kinds } from '#resources/kinds';
import { policyIdLabel, policyRevisionLabel } from '#resources/revision-labels';
import type { RuntimeWorkload } from '#resources/runtime-workload';

/** The RuntimeWorkload of a workload. It has no owner, because applications share it. */
export function makeWorkload(input: {
  readonly name: string;
  readonly digest: string;
  readonly build: string;
  readonly manifest: string;
  readonly replicas: number;
  /** The revision that the bundle was built from; undefined for a bundle without policies. */
  readonly revision: { readonly policyId: string; readonly number: string } | undefined;
}): RuntimeWorkload {
  const { name, digest, build, manifest, replicas, revision } = input;
  const labels =
    revision === undefined
      ? {}
      : { labels: { [policyIdLabel]: revision.policyId, [policyRevisionLabel]: revision.number } };
  return {
    apiVersion,
    kind: kinds.runtimeWorkload.kind,
    metadata: { name, ...labels },
    spec: { digest, build, manifest, replicas, state: 'Active' },
  };
}
