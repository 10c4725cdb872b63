import type { AuditContent, AuditServing } from '#contracts/audit';

/** The part of the spec of an Agent whose changes are in the audit log. */
export type ObservedAgent = {
  readonly serving: AuditServing;
  /** Each right as `agent-changes.ts` writes it, sorted, without duplicates. */
  readonly rights: readonly string[];
};

/** The part of the spec of a ModelBinding that no application changes, without its values. */
export type ObservedBinding = {
  readonly modelId: string;
  /** Digest of all settings. */
  readonly digest: string;
  /** Digest of each setting, by the names of `binding-settings.ts`. */
  readonly settings: Readonly<Record<string, string>>;
};

/** A recorded state; `state` is undefined before the first state. */
export type RecordedState<S> = { readonly generation: number; readonly state: S | undefined };

/** The recorded identity of an object that was not deleted. */
export type KnownObject = { readonly uid: string; readonly name: string; readonly generation: number };

/**
 * The states of the objects of one kind that are in the audit log. Each change is recorded in one transaction with its
 * entries, once for all replicas. Every method throws SqlUnavailableError or SqlStatementError.
 */
export type ObservedStates<S> = {
  /** The objects that were recorded and not deleted. */
  known(): Promise<readonly KnownObject[]>;
  /** Records a state, unless this or a later generation is recorded, or the deletion. */
  advance(
    object: KnownObject & { readonly state: S },
    entriesOf: (before: RecordedState<S>) => readonly AuditContent[],
  ): Promise<void>;
  /** Records a deletion, unless it is already recorded. */
  end(uid: string, entriesOf: (before: RecordedState<S>) => readonly AuditContent[]): Promise<void>;
};
