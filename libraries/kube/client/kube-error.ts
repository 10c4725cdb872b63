/** Why a call to a server of the Kubernetes REST subset did not succeed. */
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

/** One named problem of a refused object: `field` is a path such as `spec.model.alias`. */
export type FieldProblem = { readonly field: string; readonly message: string };

export type KubeErrorDetails = {
  /** HTTP status, or the code of a Status object inside of a watch; absent when no answer came. */
  readonly status?: number;
  /** Every problem of a refused object. */
  readonly causes?: readonly FieldProblem[];
  /** Name of the object that the server says it does not have; absent when the path itself is unknown. */
  readonly absent?: string;
  /** How long the server asks to wait, milliseconds. */
  readonly retryAfterMs?: number;
};

/**
 * A failed call. `code` decides what to do; `message` may repeat what the server said about the caller's own object,
 * so it is for the caller and never for a log.
 *
 * - `conflict`: the object is another one, or of another version, than a write or delete demanded.
 * - `precondition_failed`: a JSON Patch did not apply, most often because of a `test`.
 * - `network`: no whole answer; a write may or may not have happened.
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
