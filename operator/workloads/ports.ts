import type { BundleProvider } from '#contracts/bundle';

/** What a workload runs, and under which name. */
export type WorkloadIdentity = {
  readonly name: string;
  /** SHA-256 of the canonical bundle. */
  readonly digest: string;
  /** Version of the runtime. */
  readonly build: string;
};

export type WorkloadRendering = WorkloadIdentity & {
  /** The providers that the bundle names. */
  readonly providers: readonly BundleProvider[];
};

/** A build, and what is run of it. */
export type RunnableWorkload = { readonly build: string; readonly manifest: string };

export type WorkloadRequest = WorkloadIdentity & {
  /** UID of the RuntimeWorkload that the workload belongs to. */
  readonly uid: string;
  /** What is run, rendered once and from then on taken byte for byte. */
  readonly manifest: string;
  readonly replicas: number;
  /** Where the processes answered before; they answer there again where that is possible. */
  readonly addresses: readonly string[];
};

export type WorkloadObservation = {
  /** Origins of processes that were ready once, ready now or not; they stay the same over a restart where they can. */
  readonly addresses: readonly string[];
  /** Processes that are ready now. */
  readonly ready: number;
  /** Why fewer processes are ready than requested; absent where no cause is known. */
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
  | 'Unschedulable';

/**
 * Runs workloads. Desired state goes in, what is observed comes out; calls are repeatable and none waits for a process
 * to become ready. Disposing ends what belongs to this process and waits for it: local processes end, what a cluster
 * runs goes on.
 */
export type Workloads = AsyncDisposable & {
  /** Whether this place can run that at all; false for ever for a build that is gone and a manifest of elsewhere. */
  canRun(workload: RunnableWorkload): boolean;
  /** The manifest of a workload: the same input gives the same bytes. */
  render(rendering: WorkloadRendering): string;
  /**
   * Has that many processes of the workload run, starts what is missing and restarts what died, until `remove`.
   * A process that is one too many goes on serving until its address can be withdrawn everywhere. What `canRun` says
   * no to, and another manifest under the same name, is a mistake of the program.
   */
  ensure(request: WorkloadRequest): void;
  /** What is observed now; a workload that was never asked for has no addresses and nothing ready. */
  observe(name: string): WorkloadObservation;
  /** Ends the processes after what they have in flight; an unknown name is fine. Returns at once. */
  remove(name: string): void;
  /** Whether the workload is asked for now. */
  has(name: string): boolean;
  /** Has the listener called with the name of a workload whose observation changed. One listener at a time. */
  onChange(listener: (name: string) => void): void;
};
