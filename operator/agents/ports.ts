import type { AgentBundle } from '#contracts/agent-bundle';
import type { AgentState } from '#contracts/agent-state';

export type AgentRequest = {
  /** Name of the workload. */
  readonly name: string;
  /** Name of the AgentVersion for which a change of the observation is reported. */
  readonly resource: string;
  readonly bundle: AgentBundle;
};

/** Whether the card that the process serves is the one that it reports, with addresses of this version only. */
export type CardCheck = 'verified' | 'differs' | 'none' | 'unread';

export type AgentObservation = {
  /** The last answer of `/state`; absent before the first one, and when the process has ended. */
  readonly state: AgentState | undefined;
  readonly card: CardCheck;
  /** Why no process runs: a sentence without any text of users. */
  readonly problem: string | undefined;
  /** Origin at which the process takes calls; absent while none is known. */
  readonly address?: string;
};

/**
 * Runs the processes of versions of agents, one for each workload. Calls set the desired state, are idempotent and do not
 * wait for a process. Disposing ends local processes.
 */
export type AgentHost = AsyncDisposable & {
  /** Build of the process that new workloads run. */
  readonly build: string;
  /** Address of agents for clients, below which each version has its own. */
  readonly publicUrl: URL;
  ensure(request: AgentRequest): void;
  observe(name: string): AgentObservation;
  /** Ends the process; an unknown name is ignored. */
  remove(name: string): void;
  has(name: string): boolean;
  /** Sets the listener, which is called with the name of the AgentVersion. */
  onChange(listener: (resource: string) => void): void;
};
