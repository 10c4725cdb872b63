import type { FailingProvider } from '#contracts/failing-provider';
import type { ManagedConflict } from '#contracts/managed-collections';
import type { Collection } from '#contracts/retrieval';
import type { AwayReason } from '../../collections/ports.ts';
import type { CollectionSnapshot } from './snapshot.ts';

export type CollectionResult =
  | { readonly kind: 'not_configured'; readonly deleting: boolean }
  | { readonly kind: 'tenant_not_approved' }
  | { readonly kind: 'away'; readonly why: AwayReason; readonly deleting: boolean }
  | { readonly kind: 'refused'; readonly member: string }
  | { readonly kind: 'conflict'; readonly over: ManagedConflict }
  /** The deletion waits for the collections below this collection. */
  | { readonly kind: 'has_children' }
  | {
      readonly kind: 'ensured';
      readonly collection: Collection;
      readonly failingProviders: readonly FailingProvider[];
    };

type CollectionStep =
  | { readonly kind: 'nothing' }
  /** Adds the finalizer before the collection is created, so that it can be deleted or released with the resource. */
  | { readonly kind: 'adopt' }
  | { readonly kind: 'ensure' }
  | { readonly kind: 'delete' }
  | { readonly kind: 'release' }
  /** Removes the finalizer. */
  | { readonly kind: 'let_go' }
  | { readonly kind: 'settle'; readonly result: CollectionResult };

/** The next step of a collection (docs/design/collections.md). */
export function decideCollection(s: CollectionSnapshot): CollectionStep {
  if (s.deleting) return s.hasFinalizer ? leave(s) : { kind: 'nothing' };
  if (!s.isConfigured) return settle({ kind: 'not_configured', deleting: false });
  if (!s.isTenantApproved) return settle({ kind: 'tenant_not_approved' });
  if (!s.hasFinalizer) return { kind: 'adopt' };
  const { ensured } = s;
  if (ensured === undefined) return { kind: 'ensure' };
  return settle(ensured.kind === 'away' ? { ...ensured, deleting: false } : ensured);
}

/**
 * It does not matter whether the tenant is approved: the service deletes only a collection that this resource manages,
 * and otherwise the collection of a tenant that is no longer approved would never be deleted.
 */
function leave(s: CollectionSnapshot): CollectionStep {
  const { ended } = s;
  if (!s.isConfigured) return settle({ kind: 'not_configured', deleting: true });
  if (ended === undefined) return { kind: s.deletionPolicy === 'Delete' ? 'delete' : 'release' };
  if (ended.kind === 'away') return settle({ ...ended, deleting: true });
  if (ended.kind === 'conflict' && ended.over === 'children') return settle({ kind: 'has_children' });
  // Any other conflict means that this resource does not manage the collection, so that there is nothing to delete.
  return { kind: 'let_go' };
}

function settle(result: CollectionResult): CollectionStep {
  return { kind: 'settle', result };
}
