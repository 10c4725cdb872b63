import { apiVersion, kinds } from '#resources/kinds';
import type { RuntimeGeneration } from '#resources/runtime-generation';

/** The object of a workload; it belongs to nobody, for applications share it. */
export function makeGeneration(input: {
  readonly name: string;
  readonly digest: string;
  readonly build: string;
  readonly manifest: string;
  readonly replicas: number;
}): RuntimeGeneration {
  const { name, digest, build, manifest, replicas } = input;
  return {
    apiVersion,
    kind: kinds.runtimeGeneration.kind,
    metadata: { name },
    spec: { digest, build, manifest, replicas, state: 'Active' },
  };
}
