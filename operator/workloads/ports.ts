import type { BundleProvider } from '#contracts/bundle';

/** The content that identifies a workload, and the name that is derived from it. */
export type WorkloadIdentity = {
  readonly name: string;
  /** SHA-256 of the canonical bundle. */
  readonly digest: string;
  /** Version of the runtime. */
  readonly build: string;
};

export type WorkloadRendering = WorkloadIdentity & {
  /** Providers that the bundle names. */
  readonly providers: readonly BundleProvider[];
};

/** A build and the manifest of a workload of it. */
export type RunnableWorkload = { readonly build: string; readonly manifest: string };

export type WorkloadRequest = WorkloadIdentity & {
  /** UID of the RuntimeWorkload that owns the workload. */
  readonly uid: string;
  /** The manifest as it was rendered when the workload was created. */
  readonly manifest: string;
  readonly replicas: number;
  /** Addresses of earlier processes of the workload; new processes use the same ports if possible. */
  readonly addresses: readonly string[];
};

export type WorkloadObservation = {
  /** Origins of processes that were ready at least once. A restart keeps them if possible. */
  readonly addresses: readonly string[];
  /** Number of ready processes. */
  readonly ready: number;
  /** Why fewer processes are ready than requested; absent when the cause is unknown. */
  readonly problem: WorkloadProblem | undefined;
};

export type WorkloadProblem = {
  /** Reason of the condition `Ready` of a RuntimeWorkload. */
  readonly reason: WorkloadProblemReason;
  /** A sentence without any text of users. */
  readonly message: string;
};

export type WorkloadProblemReason =
  | 'ContainerNotStarted'
  | 'ForeignEndpoint'
  | 'ImagePullFailed'
  | 'ObjectRefused'
  | 'PodsForbidden'
  | 'ProcessEnded'
  | 'ReplicaNotAnswering'
  | 'Unschedulable';

/** The problem of a process that answered before and no longer answers; it is killed after 10 s without an answer. */
export const notAnswering: WorkloadProblem = { reason: 'ReplicaNotAnswering', message: 'a process does not answer' };

/**
 * Runs workloads. Calls set desired state, are idempotent and do not wait for a process to become ready; `observe`
 * returns the observed state. Disposing drains and ends local processes; pods of a cluster keep running.
 */
export type Workloads = AsyncDisposable & {
  /**
   * Whether the workload can run here; for local processes never if it belongs to another build, and never if the
   * manifest belongs to another kind of operator.
   */
  canRun(workload: RunnableWorkload): boolean;
  /** The manifest of a workload; equal input gives equal bytes. */
  render(rendering: WorkloadRendering): string;
  /**
   * Keeps the requested number of processes running until `remove`. A surplus process keeps serving until gateways no
   * longer use its address.
   * @throws TypeError if `canRun` is false for it, or if the workload of that name has another manifest
   */
  ensure(request: WorkloadRequest): void;
  /** The present observation; an unknown workload has no addresses and no ready process. */
  observe(name: string): WorkloadObservation;
  /** Drains and ends the processes in the background; an unknown name is ignored. */
  remove(name: string): void;
  /** Whether `ensure` was called for the workload, and `remove` was not called afterwards. */
  has(name: string): boolean;
  /** Sets the listener, which is called with the name of a workload whose observation changed. */
  onChange(listener: (name: string) => void): void;
};
