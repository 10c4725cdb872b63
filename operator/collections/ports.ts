import type { z } from 'zod';
import type { FailingProvider } from '#contracts/failing-provider';
import type { ensureCollectionSchema, ManagedConflict } from '#contracts/managed-collections';
import type { Collection } from '#contracts/retrieval';

export type CollectionPlace = { readonly tenant: string; readonly collectionId: string };

export type DeclaredCollection = z.input<typeof ensureCollectionSchema>;

/** The service gave no usable answer: the effect of the request is unknown. */
export type ServiceAway = { readonly kind: 'away'; readonly why: AwayReason };
export type AwayReason = 'no_answer' | 'failed' | 'unauthorized' | 'no_token' | 'invalid_answer';

export type EnsureOutcome =
  | {
      readonly kind: 'ensured';
      readonly collection: Collection;
      /** The rules whose detector or classifier does not judge, so that documents of the collection wait. */
      readonly failingProviders: readonly FailingProvider[];
    }
  | { readonly kind: 'conflict'; readonly over: ManagedConflict }
  /** The service refuses the declaration; `member` is the first member that its error names. */
  | { readonly kind: 'refused'; readonly member: string }
  | ServiceAway;

export type EndOutcome =
  | { readonly kind: 'ended' }
  /** Other collections are below this one, or this resource does not manage it. */
  | { readonly kind: 'conflict'; readonly over: ManagedConflict }
  | ServiceAway;

/**
 * Collections of the retrieval service that resources declare. Every operation is idempotent. An operation throws only
 * the reason of its signal, or, before anything is sent, a NotLeaderError if this process may not write.
 */
export type ManagedCollections = {
  /** Creates or changes the collection, and begins a reindex for another profile. */
  ensure(place: CollectionPlace, declared: DeclaredCollection, signal: AbortSignal): Promise<EnsureOutcome>;
  /** Deletes the collection with its documents; a collection that does not exist counts as deleted. */
  delete(place: CollectionPlace, manager: string, signal: AbortSignal): Promise<EndOutcome>;
  /** Ends the management and keeps the collection; a collection that `manager` does not manage counts as released. */
  release(place: CollectionPlace, manager: string, signal: AbortSignal): Promise<EndOutcome>;
};
