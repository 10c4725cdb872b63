import { type ObjectsFault, ObjectsUnavailableError } from '../../objects-error.ts';

/** Error codes of S3 (Amazon S3 API reference, Error responses) and of MinIO. */
const faults: ReadonlyMap<string, ObjectsFault> = new Map([
  ['AccessDenied', 'denied'],
  ['AllAccessDisabled', 'denied'],
  ['NoSuchBucket', 'denied'],
  ['InvalidAccessKeyId', 'credentials'],
  ['SignatureDoesNotMatch', 'credentials'],
  ['ExpiredToken', 'credentials'],
  ['InvalidToken', 'credentials'],
  ['QuotaExceeded', 'full'],
  ['XMinioAdminBucketQuotaExceeded', 'full'],
  ['XMinioStorageFull', 'full'],
]);

/**
 * The reason why a call of the store failed. Errors of the package contain requests and keys, and are not passed on.
 */
export function unavailable(error: unknown): ObjectsUnavailableError {
  if (error instanceof ObjectsUnavailableError) return error;
  return new ObjectsUnavailableError(faults.get(codeOf(error)) ?? 'unreachable');
}

/** Whether the store answered that the object does not exist. */
export function isNoSuchKey(error: unknown): boolean {
  return codeOf(error) === 'NoSuchKey';
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
