import { CliError } from '../errors/cli-error.ts';
import type { ExitName } from '../errors/exit-codes.ts';
import { unreachableReason, unreachableRemedy } from '../errors/unreachable.ts';

/**
 * A service of the data plane refused a request. `code` is from the service's closed table; with `traceId` the request
 * can be found in the log of the service.
 */
export class ServiceApiError extends CliError {
  readonly status: number;
  readonly code: string;
  readonly traceId: string;

  constructor(status: number, { code, message, traceId }: { code: string; message: string; traceId: string }) {
    super(exitOf(status), message);
    this.name = 'ServiceApiError';
    this.status = status;
    this.code = code;
    this.traceId = traceId;
  }
}

/** No answer arrived before the timeout. */
export class ServiceUnreachableError extends CliError {
  constructor(service: string, origin: string, cause: unknown) {
    const reason = unreachableReason(cause, origin);
    const remedy = unreachableRemedy(service);
    super('not_running', `The ${service} service at ${origin} does not answer: ${reason}. ${remedy}`, { cause });
    this.name = 'ServiceUnreachableError';
  }
}

/** An answer outside the contract; it has no effect. */
export class ServiceAnswerError extends CliError {
  constructor(service: string, origin: string, reason: string) {
    const remedy = 'check the address and the version.';
    super('failed', `The answer of ${origin} is not one of the ${service} service (${reason}): ${remedy}`);
    this.name = 'ServiceAnswerError';
  }
}

function exitOf(status: number): ExitName {
  if (status === 401) return 'unauthenticated';
  if (status === 403) return 'refused';
  if (status === 404) return 'not_found';
  if (status === 409) return 'conflict';
  if (status === 400 || status === 413) return 'usage';
  return 'failed';
}
