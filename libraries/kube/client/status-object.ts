import { z } from 'zod';
import { KubeError, type KubeErrorCode, type KubeErrorDetails } from './kube-error.ts';

/** The members of a Kubernetes Status object (meta/v1) that this program reads. */
const statusObjectSchema = z.looseObject({
  kind: z.literal('Status'),
  code: z.number().optional(),
  reason: z.string().optional(),
  message: z.string().optional(),
  details: z
    .looseObject({
      name: z.string().optional(),
      kind: z.string().optional(),
      retryAfterSeconds: z.number().optional(),
      causes: z
        .array(
          z.looseObject({
            reason: z.string().optional(),
            field: z.string().optional(),
            message: z.string().optional(),
          }),
        )
        .optional(),
    })
    .optional(),
});
type StatusObject = z.infer<typeof statusObjectSchema>;

/** The Status object in a decoded body; undefined when the body is anything else. */
export function readStatusObject(body: unknown): StatusObject | undefined {
  const parsed = statusObjectSchema.safeParse(body);
  return parsed.success ? parsed.data : undefined;
}

/** Converts an error response (HTTP status, decoded body, Retry-After in milliseconds) to a KubeError. */
export function statusToError(httpStatus: number, body: unknown, retryAfterMs?: number): KubeError {
  const status = readStatusObject(body);
  const causes = (status?.details?.causes ?? []).map((cause) => ({
    field: cause.field ?? '',
    message: cause.message ?? cause.reason ?? '',
  }));
  const seconds = status?.details?.retryAfterSeconds;
  const wait = retryAfterMs ?? (seconds !== undefined && seconds > 0 ? seconds * 1000 : undefined);
  const details: KubeErrorDetails = {
    status: httpStatus,
    ...(causes.length > 0 ? { causes } : {}),
    ...(status?.reason === 'NotFound' && status.details?.name ? { absent: status.details.name } : {}),
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
  };
  const message = status?.message ?? `the API server answered with status ${httpStatus}`;
  return new KubeError(codeOf(httpStatus, status), message, details);
}

function codeOf(httpStatus: number, status: StatusObject | undefined): KubeErrorCode {
  const causes = status?.details?.causes ?? [];
  if (causes.some((cause) => cause.reason === 'ResourceVersionTooLarge')) return 'too_large_resource_version';
  if (causes.some((cause) => cause.reason === 'StorageFull')) return 'storage_full';
  switch (httpStatus) {
    case 400:
    case 413:
      return 'invalid';
    case 401:
      return 'unauthenticated';
    case 403:
      return 'forbidden';
    case 404:
      return 'not_found';
    case 409:
      return status?.reason === 'AlreadyExists' ? 'already_exists' : 'conflict';
    case 410:
      return 'gone';
    case 422:
      // A patch that does not apply has no causes; an invalid object has one cause for each problem.
      return causes.length === 0 ? 'precondition_failed' : 'invalid';
    case 429:
      return 'too_many_requests';
    case 507:
      return 'storage_full';
    default:
      return 'unavailable';
  }
}
