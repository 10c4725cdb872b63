import type { RevisionHead } from '../../revisions/decide-recording.ts';

/** Another policy that has the same id label. */
export type IdClaimant = { readonly name: string; readonly uid: string };

export type PolicySnapshot = {
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly id: string | undefined;
  readonly hasFinalizer: boolean;
  readonly deleting: boolean;
  /** The time at which its deletion was requested; absent if it is not being deleted. */
  readonly deletedAt?: string;
  /** Whether a user has cancelled this deletion: the policy must exist again with its content. */
  readonly isKept: boolean;
  /** Structural problems of the spec; empty if the spec is accepted. */
  readonly problems: readonly string[];
  readonly namesakes: readonly IdClaimant[];
  /** The newest revision of the id; read only if other policies have the same id. */
  readonly newest: Pick<RevisionHead, 'policy'> | undefined;
  /** The revision of this generation; absent until it was recorded in this pass. */
  readonly recorded: RecordedView | 'held' | undefined;
  /** Bindings and routes that refer to the policy; read only while the policy is being deleted. */
  readonly references: readonly string[] | undefined;
};

export type RecordedView = {
  readonly number: number;
  readonly name: string;
  readonly definitionDigest: string;
};
