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
  /** When its deletion was requested; absent while it is not being deleted. */
  readonly deletedAt?: string;
  /** A user takes this deletion back: the policy is to exist again with its content. */
  readonly isKept: boolean;
  /** Structural problems of the spec; empty for an accepted one. */
  readonly problems: readonly string[];
  readonly namesakes: readonly IdClaimant[];
  /** The newest revision of the id; read only if there are namesakes. */
  readonly newest: Pick<RevisionHead, 'policy'> | undefined;
  /** The revision of this generation; absent until it was recorded in this pass. */
  readonly recorded: RecordedView | 'held' | undefined;
  /** Bindings and routes that refer to the policy; read only while it is being deleted. */
  readonly references: readonly string[] | undefined;
};

export type RecordedView = {
  readonly number: number;
  readonly name: string;
  readonly definitionDigest: string;
};
