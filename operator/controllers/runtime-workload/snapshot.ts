import type { Condition } from '#resources/metadata';
import type { RuntimeWorkloadSpec } from '#resources/runtime-workload';
import type { WorkloadObservation } from '../../workloads/ports.ts';

/** The objects that need a workload, and the number of processes that they request. */
export type Need = {
  /** Names of routes and bindings that need the workload now. */
  readonly askers: readonly string[];
  /** The largest number of processes that they request; 0 without any. */
  readonly replicas: number;
};

export type WorkloadSnapshot = {
  readonly name: string;
  readonly generation: number;
  readonly deleting: boolean;
  readonly spec: RuntimeWorkloadSpec;
  readonly conditions: readonly Condition[];
  readonly knownAddresses: readonly string[];
  /** Whether this installation can run the build. */
  readonly runnable: boolean;
  /** Whether the bundle is stored; `unrecoverable` if it cannot be built again. */
  readonly bundle: 'stored' | 'lost' | 'unrecoverable';
  /** Absent if this operator process has not started the workload. */
  readonly observed: WorkloadObservation | undefined;
  readonly need: Need;
  /** Replicas that still use the workload. */
  readonly users: readonly string[];
  /** Replicas, ready or not, whose report is not yet past the last change of a route. */
  readonly behind: readonly string[];
  /** Every ready replica is past the last change of a route for longer than a stream may last. */
  readonly drained: boolean;
};
