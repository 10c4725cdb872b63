/** The tenant and the collection of a document, for limits and approved addresses of the tenant. */
export type DocumentScope = { readonly tenant: string; readonly collectionId: string };

type GuardDecision =
  /** The texts that may be stored, masked if the policy masks them, in the order in which they were given. */
  | { readonly kind: 'passed'; readonly texts: readonly string[]; readonly policyRevision: string }
  | { readonly kind: 'denied'; readonly policyRevision: string };

/**
 * Judges the texts of a document by the served policy. A match that spans two texts is not found. Throws
 * DependencyUnavailableError if there is no decision: a text without a decision is neither stored nor indexed.
 */
export type DocumentGuard = {
  check(scope: DocumentScope, texts: readonly string[], signal: AbortSignal): Promise<GuardDecision>;
};

/**
 * Reads the content that a content_ref names: an s3 address below a prefix approved for the tenant, or an https
 * presigned GET. Throws DependencyUnavailableError if the store does not answer, and DocumentFault if it refuses or the
 * address is not allowed.
 */
export type ContentFetcher = {
  fetch(scope: DocumentScope, uri: string, options: FetchOptions): Promise<Uint8Array>;
};

export type FetchOptions = { readonly maxBytes: number; readonly signal: AbortSignal };
