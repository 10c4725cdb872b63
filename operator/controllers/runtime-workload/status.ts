import { setCondition } from '#kube/apply/conditions';
import type { RuntimeWorkloadStatus } from '#resources/runtime-workload';
import type { GenerationStanding } from './decide.ts';
import type { GenerationSnapshot } from './snapshot.ts';

type Aspect = { readonly status: 'True' | 'False' | 'Unknown'; readonly reason: string; readonly message: string };

/** The status at the end of a pass; the lists of passed tests have another writer and stay. */
export function makeGenerationStatus(
  s: GenerationSnapshot,
  standing: GenerationStanding,
  testsPassed: readonly string[] | undefined,
  now: Date,
): RuntimeWorkloadStatus {
  const observed = s.observed?.addresses ?? [];
  const addresses = observed.length > 0 ? observed : s.knownAddresses;
  const aspect = aspectOf(s, standing);
  const change = { type: 'Ready', observedGeneration: s.generation, ...aspect };
  return {
    conditions: [...setCondition(s.conditions, change, now)],
    observedGeneration: s.generation,
    state: stateOf(s, standing),
    ...(addresses.length === 0 ? {} : { addresses: [...addresses] }),
    readyReplicas: s.observed?.ready ?? 0,
    ...(testsPassed === undefined ? {} : { testsPassed: [...testsPassed] }),
  };
}

function stateOf(s: GenerationSnapshot, standing: GenerationStanding): 'Starting' | 'Ready' | 'Draining' {
  switch (standing.kind) {
    case 'ready':
      return 'Ready';
    case 'in_use':
      return 'Draining';
    case 'starting':
    case 'build_missing':
    case 'bundle_missing':
      return s.spec.state === 'Draining' ? 'Draining' : 'Starting';
  }
}

function aspectOf(s: GenerationSnapshot, standing: GenerationStanding): Aspect {
  switch (standing.kind) {
    case 'ready':
      return { status: 'True', reason: 'Ready', message: 'All processes are ready.' };
    case 'starting':
      return {
        status: standing.problem === undefined ? 'Unknown' : 'False',
        reason: standing.problem ?? 'Starting',
        message: standing.message,
      };
    case 'build_missing':
      return { status: 'False', reason: 'BuildMissing', message: `the build ${s.spec.build} cannot be run here` };
    case 'bundle_missing':
      return {
        status: 'False',
        reason: 'BundleMissing',
        message:
          'the bundle was removed, and the recorded revision gives another one in this environment: reapply the bindings',
      };
    case 'in_use':
      return {
        status: 'True',
        reason: 'InUse',
        message: `no route needs it; these gateway replicas still use it: ${standing.by.join(', ')}`,
      };
  }
}
