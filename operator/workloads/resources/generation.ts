import { apiVersion, kinds } from '#resources/kinds';
import type { RuntimeWorkload } from '#resources/runtime-workload';

/** The RuntimeWorkload of a workload. It has no owner, because applications share it. */
export function makeGeneration(input: {
  readonly name: string;
  readonly digest: string;
  readonly build: string;
  readonly manifest: string;
  readonly replicas: number;
}): RuntimeWorkload {
  const { name, digest, build, manifest, replicas } = input;
  return {
    apiVersion,
    kind: kinds.runtimeWorkload.kind,
    metadata: { name },
    spec: { digest, build, manifest, replicas, state: 'Active' },
  };
}
