/** Why a call to a resource server failed. */
export const kubeErrorCodes = [
  'not_found',
  'already_exists',
  'conflict',
  'precondition_failed',
  'invalid',
  'gone',
  'too_large_resource_version',
  'unauthenticated',
  'forbidden',
  'too_many_requests',
  'unavailable',
  'network',
  'storage_full',
] as const;
export type KubeErrorCode = (typeof kubeErrorCodes)[number];

/** One problem of an invalid object: `field` is a path such as `spec.model.alias`. */
export type FieldProblem = { readonly field: string; readonly message: string };

export type KubeErrorDetails = {
  /** The HTTP status, or the code of a Status object in a watch; absent if there was no response. */
  readonly status?: number;
  /** Every problem of an invalid object. */
  readonly causes?: readonly FieldProblem[];
  /** Name of the object that was not found; absent when the path itself is unknown. */
  readonly absent?: string;
  /** Retry-After, milliseconds. */
  readonly retryAfterMs?: number;
};

/**
 * A failed call. Programs decide by `code`. `message` may quote the server's text about the caller's own object: it is
 * shown to that caller and never logged.
 *
 * - `conflict`: the UID or the resource version of the object is not the one that the write or delete demanded.
 * - `precondition_failed`: a JSON Patch did not apply, usually because of a `test`.
 * - `network`: no complete response; the write may have been executed.
 */
export class KubeError extends Error {
  readonly code: KubeErrorCode;
  readonly details: KubeErrorDetails;

  constructor(code: KubeErrorCode, message: string, details: KubeErrorDetails = {}, options?: ErrorOptions) {
    super(message, options);
    this.name = 'KubeError';
    this.code = code;
    this.details = details;
  }
}

/** Whether an unknown value is a KubeError of one of these codes. */
export function isKubeError(error: unknown, ...codes: readonly KubeErrorCode[]): error is KubeError {
  return error instanceof KubeError && (codes.length === 0 || codes.includes(error.code));
}
