import type { FieldProblem } from '#kube/client/kube-error';
import type { Kind } from '#resources/kinds';
import { group } from '#resources/kinds';

/** Reasons of errors with their HTTP status, as the Kubernetes API names them (meta/v1 StatusReason). */
export const refusalReasons = {
  BadRequest: 400,
  Unauthorized: 401,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  AlreadyExists: 409,
  Conflict: 409,
  Expired: 410,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  Timeout: 504,
  StorageFull: 507,
} as const;
type RefusalReason = keyof typeof refusalReasons;

type StatusCause = { readonly reason: string; readonly message: string; readonly field?: string };

type RefusalDetails = {
  readonly kind?: Kind;
  readonly name?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
};

/** An error that the client receives as a Status object. */
export class ApiRefusal extends Error {
  readonly reason: RefusalReason;
  readonly details: RefusalDetails;

  constructor(reason: RefusalReason, message: string, details: RefusalDetails = {}) {
    super(message);
    this.name = 'ApiRefusal';
    this.reason = reason;
    this.details = details;
  }

  get httpStatus(): number {
    return refusalReasons[this.reason];
  }
}

/** The Status object (meta/v1) of the error. */
export function statusOf(refusal: ApiRefusal): object {
  const { kind, name, causes, retryAfterSeconds } = refusal.details;
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: refusal.message,
    reason: refusal.reason,
    details: {
      ...(name === undefined ? {} : { name }),
      ...(kind === undefined ? {} : { group, kind: kind.plural }),
      ...(causes === undefined ? {} : { causes }),
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    },
    code: refusal.httpStatus,
  };
}

export function notFound(kind: Kind, name: string): ApiRefusal {
  return new ApiRefusal('NotFound', `${kind.plural}.${group} "${name}" not found`, { kind, name });
}

export function conflict(kind: Kind, name: string, why: string): ApiRefusal {
  return new ApiRefusal('Conflict', `Operation cannot be fulfilled on ${kind.plural}.${group} "${name}": ${why}`, {
    kind,
    name,
  });
}

/** The error for an invalid object: every problem with its field. */
export function invalid(kind: Kind, name: string, problems: readonly FieldProblem[]): ApiRefusal {
  const list = problems.map(({ field, message }) => (field === '' ? message : `${field}: ${message}`)).join('; ');
  return new ApiRefusal('Invalid', `${kind.kind}.${group} "${name}" is invalid: ${list}`, {
    kind,
    name,
    causes: problems.map(({ field, message }) => ({ reason: 'FieldValueInvalid', message, field })),
  });
}

/** The error for a JSON Patch that does not apply; like the API server it names neither object nor cause. */
export function patchDoesNotApply(): ApiRefusal {
  return new ApiRefusal('Invalid', 'the server rejected our request due to an error in our request');
}
