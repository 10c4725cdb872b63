import { setCondition } from '#kube/apply/conditions';
import type { RuntimeWorkloadStatus } from '#resources/runtime-workload';
import type { WorkloadResult } from './decide.ts';
import type { WorkloadSnapshot } from './snapshot.ts';

type Aspect = { readonly status: 'True' | 'False' | 'Unknown'; readonly reason: string; readonly message: string };

/** The status at the end of a pass; the lists of passed tests have another writer and stay. */
export function makeWorkloadStatus(
  s: WorkloadSnapshot,
  result: WorkloadResult,
  testsPassed: readonly string[] | undefined,
  now: Date,
): RuntimeWorkloadStatus {
  const observed = s.observed?.addresses ?? [];
  const addresses = observed.length > 0 ? observed : s.knownAddresses;
  const aspect = aspectOf(s, result);
  const change = { type: 'Ready', observedGeneration: s.generation, ...aspect };
  return {
    conditions: [...setCondition(s.conditions, change, now)],
    observedGeneration: s.generation,
    state: stateOf(s, result),
    ...(addresses.length === 0 ? {} : { addresses: [...addresses] }),
    readyReplicas: s.observed?.ready ?? 0,
    ...(testsPassed === undefined ? {} : { testsPassed: [...testsPassed] }),
  };
}

function stateOf(s: WorkloadSnapshot, result: WorkloadResult): 'Starting' | 'Ready' | 'Draining' {
  switch (result.kind) {
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

function aspectOf(s: WorkloadSnapshot, result: WorkloadResult): Aspect {
  switch (result.kind) {
    case 'ready':
      return { status: 'True', reason: 'Ready', message: 'All processes are ready.' };
    case 'starting':
      return {
        status: result.problem === undefined ? 'Unknown' : 'False',
        reason: result.problem ?? 'Starting',
        message: result.message,
      };
    case 'build_missing':
      return { status: 'False', reason: 'BuildMissing', message: `the build ${s.spec.build} cannot be run here` };
    case 'bundle_missing':
      return {
        status: 'False',
        reason: 'BundleMissing',
        message:
          'the bundle was removed, and the recorded revision gives a different bundle in this environment: reapply the bindings',
      };
    case 'in_use':
      return {
        status: 'True',
        reason: 'InUse',
        message: `no route needs it; these gateway replicas still use it: ${result.by.join(', ')}`,
      };
  }
}
