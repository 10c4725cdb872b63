import type { AgentState } from '#contracts/agent-state';
import type { WorkloadProblemReason } from '../workloads/ports.ts';
import type { VersionBundle } from './agent-bundle.ts';

export type AgentRequest = {
  /** Name of the workload. */
  readonly name: string;
  /** Name of the AgentVersion for which a change of the observation is reported. */
  readonly resource: string;
  readonly bundle: VersionBundle;
  /**
   * Protocols that the version serves; absent if an earlier operator started the process and this operator has not
   * checked it.
   */
  readonly modes?: readonly ('A2A' | 'MCP')[];
};

/** Whether the process serves the same card as it reports, with addresses of this version only. */
export type CardCheck = 'verified' | 'differs' | 'none' | 'unread';

export type AgentObservation = {
  /** The last answer of `/state`; absent before the first answer, and after the end of the process. */
  readonly state: AgentState | undefined;
  readonly card: CardCheck;
  /** Why no process runs or answers. */
  readonly problem: AgentHostProblem | undefined;
  /** Origin at which the process accepts calls; absent while it is not known. */
  readonly address?: string;
};

export type AgentHostProblem = {
  /** Reason of the condition `Ready` of an AgentVersion. */
  readonly reason: WorkloadProblemReason | 'PolicyNotServed';
  /** A sentence without any text of users. */
  readonly message: string;
};

/**
 * Runs the processes of versions of agents, one process for each workload. Calls set the desired state, are idempotent
 * and do not wait for a process. Disposing ends local processes; pods of a cluster keep running.
 */
export type AgentHost = AsyncDisposable & {
  /** Build of the agent process for new workloads. */
  readonly build: string;
  /** Base URL of agents for clients; each version has a path below it. */
  readonly publicUrl: URL;
  /** Whether the host runs images of authors; if so, `ensure` is also called for versions that are images. */
  readonly runsImages: boolean;
  ensure(request: AgentRequest): void;
  /** Undefined until a workload that may have a process was observed; its first observation is reported as a change. */
  observe(name: string): AgentObservation | undefined;
  /** Ends the process; an unknown name is ignored. */
  remove(name: string): void;
  /** Whether `ensure` was called for the version, and `remove` was not called afterwards. */
  has(name: string): boolean;
  /** Whether a process with that name may run, including a process that an earlier operator started. */
  runs(name: string): boolean;
  /** The request of a workload; undefined for an unknown name. */
  requestOf(name: string): AgentRequest | undefined;
  /** Sets the listener, which is called with the name of the AgentVersion. */
  onChange(listener: (resource: string) => void): void;
};
