/** Who a document belongs to, for limits and addresses of a tenant. */
export type DocumentScope = { readonly tenant: string; readonly collectionId: string };

type GuardDecision =
  /** The texts as they may be stored, masked where the policy says so, in the order in which they were given. */
  | { readonly kind: 'passed'; readonly texts: readonly string[]; readonly policyRevision: string }
  | { readonly kind: 'denied'; readonly policyRevision: string };

/**
 * Judges the texts of a document by the served policy. A match that spans two texts is not found.
 * Throws DependencyUnavailableError if no decision was made: such a text is neither stored nor indexed.
 */
export type DocumentGuard = {
  check(scope: DocumentScope, texts: readonly string[], signal: AbortSignal): Promise<GuardDecision>;
};

/**
 * Reads what a content_ref names: an s3 address below a prefix approved for the tenant, or an https presigned GET.
 * Throws DependencyUnavailableError if the store does not answer and DocumentFault if it refuses or the address is not
 * allowed.
 */
export type ContentFetcher = {
  fetch(scope: DocumentScope, uri: string, options: FetchOptions): Promise<Uint8Array>;
};

export type FetchOptions = { readonly maxBytes: number; readonly signal: AbortSignal };
