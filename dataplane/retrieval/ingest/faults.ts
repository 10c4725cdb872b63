import type { CheckFailure } from '#checks/check-outcome';
import type { FailingProvider } from '#contracts/failing-provider';

/** A store or service that ingest needs. */
export type Dependency = 'postgres' | 'objects' | 'content' | 'guard' | 'models';

/**
 * A dependency is unavailable, slow or overloaded. The document is not at fault: its job is retried later, and the
 * delivery does not count.
 */
export class DependencyUnavailableError extends Error {
  readonly code = 'dependency_unavailable';
  readonly dependency: Dependency;

  constructor(dependency: Dependency, cause?: unknown) {
    super(`${dependency} does not answer`, { cause });
    this.name = 'DependencyUnavailableError';
    this.dependency = dependency;
  }
}

/** The guard has no decision; `provider` is the detector or classifier that did not judge, where that is the cause. */
export class GuardUnavailableError extends DependencyUnavailableError {
  readonly provider: FailingProvider | undefined;

  constructor(code: CheckFailure, provider?: FailingProvider) {
    super('guard', code);
    this.provider = provider;
  }
}

/**
 * Why a document cannot be indexed. Codes are stable, messages may change.
 * - `malformed`: the content is not a canonical document
 * - `hash_mismatch`: the bytes have another SHA-256 than content_hash
 * - `too_large`: the content is above the limit
 * - `address_refused`: content_ref names an address that is not allowed for the tenant
 * - `content_absent`: the store answered that the object does not exist, or that the signature has expired
 * - `denied`: the policy denies the text
 * - `tenant_full`, `index_full`: the tenant or the index has no room for the text
 * - `collection_deleted`: the collection no longer exists
 * - `masking_failed`: a job that masks a stored text for a reindex has failed
 * - `submit_failed`: a failed job keeps a reindex from masking a stored text
 * - `embedding_refused`: the model gateway refuses the text or answers with vectors of another form
 */
type DocumentFaultCode =
  | 'malformed'
  | 'hash_mismatch'
  | 'too_large'
  | 'address_refused'
  | 'content_absent'
  | 'denied'
  | 'tenant_full'
  | 'index_full'
  | 'collection_deleted'
  | 'masking_failed'
  | 'submit_failed'
  | 'embedding_refused';

/** A processing error of the document itself: its job ends FAILED (`retrieval:job-state:running-to-failed`). */
export class DocumentFault extends Error {
  readonly code: DocumentFaultCode;

  /** @param message for the submitter: names the place and the remedy, quotes no text */
  constructor(code: DocumentFaultCode, message: string) {
    super(message);
    this.name = 'DocumentFault';
    this.code = code;
  }
}
