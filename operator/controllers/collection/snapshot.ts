import type { EndOutcome, EnsureOutcome } from '../../collections/ports.ts';

export type CollectionSnapshot = {
  readonly deleting: boolean;
  readonly hasFinalizer: boolean;
  readonly deletionPolicy: 'Retain' | 'Delete';
  /** Whether this installation has a retrieval service for collections of resources. */
  readonly isConfigured: boolean;
  readonly isTenantApproved: boolean;
  /** The answer of the service in this pass; absent before the request. */
  readonly ensured: EnsureOutcome | undefined;
  /** The answer of the retrieval service to the deletion or release that this reconcile requested. */
  readonly ended: EndOutcome | undefined;
};
