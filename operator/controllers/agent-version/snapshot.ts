import type { AgentObservation } from '../../agents/ports.ts';
import type { VersionOutcome } from '../../agents/version-checks.ts';

export type AgentVersionSnapshot = {
  readonly deleting: boolean;
  readonly hasFinalizer: boolean;
  /** The agent whose route lists the version. */
  readonly routedBy: string | undefined;
  /** Gateway replicas with calls of the version, or that may not have seen that no route lists it. */
  readonly users: readonly string[];
  /** Milliseconds since the deletion was requested. */
  readonly deletingMs: number;
  /** Longest time that a deletion waits for runs, milliseconds. */
  readonly drainMs: number;
  /** Whether this installation runs agents. */
  readonly isConfigured: boolean;
  /** Whether the version is an image that this installation cannot run. */
  readonly isForeignImage: boolean;
  /** The verdict about the version; absent until the version was checked. */
  readonly outcome: VersionOutcome | undefined;
  /** The contradictions between resource and manifest. */
  readonly differences: readonly string[];
  /** The required connections that the environment does not have for the agent, one sentence each. */
  readonly missing: readonly string[];
  /** Whether `ensure` of the adapter was called for the version, so that its process runs. */
  readonly isWanted: boolean;
  /** Whether a process of the version may run, including a process that an earlier operator started. */
  readonly mayRun: boolean;
  /** The observation of the process; absent while its state is not known. */
  readonly observed: AgentObservation | undefined;
};
