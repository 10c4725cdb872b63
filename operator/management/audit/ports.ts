import type { AuditContent, AuditServing } from '#contracts/audit';

/** The part of the spec of an Agent whose changes are in the audit log. */
export type ObservedState = {
  readonly serving: AuditServing;
  /** Each right as `agent-changes.ts` writes it, sorted, without duplicates. */
  readonly rights: readonly string[];
};

/** A recorded state; `state` is undefined before the first one. */
export type RecordedAgent = { readonly generation: number; readonly state: ObservedState | undefined };

/** What is stored of an Agent that was not deleted. */
export type KnownAgent = { readonly uid: string; readonly name: string; readonly generation: number };

/**
 * The states of agents that the audit log has. Each change is recorded in one transaction with its entries, once over all
 * replicas. Every method throws SqlUnavailableError or SqlStatementError.
 */
export type AgentStates = {
  /** The agents that were recorded and not deleted. */
  known(): Promise<readonly KnownAgent[]>;
  /** Records a state, unless this or a later generation is recorded, or the deletion. */
  advance(
    agent: KnownAgent & { readonly state: ObservedState },
    entriesOf: (before: RecordedAgent) => readonly AuditContent[],
  ): Promise<void>;
  /** Records a deletion, unless it is recorded. */
  end(uid: string, entriesOf: (before: RecordedAgent) => readonly AuditContent[]): Promise<void>;
};
