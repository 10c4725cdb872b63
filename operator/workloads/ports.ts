/** What runs one bundle on one build. */
export type WorkloadIdentity = {
  /** SHA-256 of the canonical bundle. */
  readonly digest: string;
  /** Version of the runtime. */
  readonly build: string;
};

export type WorkloadRequest = WorkloadIdentity & {
  readonly name: string;
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
  /** Why a process is not running, in words without any text of users; absent where all is well. */
  readonly problem: string | undefined;
};

/**
 * Runs workloads. Desired state goes in, what is observed comes out; calls are repeatable and none waits for a process
 * to become ready. Disposing ends every process and waits for it.
 */
export type Workloads = AsyncDisposable & {
  /** Whether this place can run a build at all; false for ever for a build that is gone. */
  canRun(build: string): boolean;
  /** The manifest of a workload: the same input gives the same bytes. */
  render(identity: WorkloadIdentity): string;
  /**
   * Has that many processes of the workload run, starts what is missing and restarts what died, until `remove`.
   * Another manifest under the same name is a mistake of the program.
   */
  ensure(request: WorkloadRequest): void;
  /** What is observed now; a workload that was never asked for has no addresses and nothing ready. */
  observe(name: string): WorkloadObservation;
  /** Ends the processes after what they have in flight; an unknown name is fine. Returns at once. */
  remove(name: string): void;
  /** The workloads that are asked for, in no particular order. */
  names(): readonly string[];
  /** Has the listener called with the name of a workload whose observation changed. One listener at a time. */
  onChange(listener: (name: string) => void): void;
};
