import type { ManagementErrorBody } from '#contracts/management';
import type { ManagementErrorCode } from '#contracts/management-errors';
import { CliError } from '../errors/cli-error.ts';
import type { ExitName } from '../errors/exit-codes.ts';
import { unreachableReason, unreachableRemedy } from '../errors/unreachable.ts';

type ErrorDetails = ManagementErrorBody['error']['details'];

/**
 * The management API refused a request. `code` is from its closed table; with `traceId` the request can be found in its
 * log.
 */
export class ManagementApiError extends CliError {
  readonly code: ManagementErrorCode;
  readonly status: number;
  readonly traceId: string;
  readonly details: ErrorDetails;

  /** @param remedy the remedy for the caller, in addition to the message of the API; may be empty */
  constructor(status: number, { code, message, traceId, details }: ManagementErrorBody['error'], remedy: string) {
    const problems = details.length === 0 ? '' : `${details.map(detailText).join('; ')}.`;
    super(exitOf(status, code), [message, problems, remedy].filter((part) => part !== '').join(' '));
    this.name = 'ManagementApiError';
    this.code = code;
    this.status = status;
    this.traceId = traceId;
    this.details = details;
  }
}

/** Replaces an answer that an id is unknown by the sentence; other errors stay unchanged. */
export function orAbsent(sentence: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof ManagementApiError) || error.status !== 404) throw error;
    throw new CliError('not_found', sentence, { cause: error });
  };
}

/** No answer arrived before the timeout. */
export class ManagementUnreachableError extends CliError {
  constructor(origin: string, cause: unknown) {
    const reason = unreachableReason(cause, origin);
    const remedy = unreachableRemedy('operator');
    super('not_running', `The management API at ${origin} does not answer: ${reason}. ${remedy}`, { cause });
    this.name = 'ManagementUnreachableError';
  }
}

/** An answer outside the contract; it has no effect. */
export class ManagementAnswerError extends CliError {
  constructor(origin: string, what: string) {
    super(
      'failed',
      `${origin} answers, but not as the management API does (${what}). It may be the address of a gateway: "portcullis status" shows the addresses of a platform. If the address is right, use the command line of the release that the API has.`,
    );
    this.name = 'ManagementAnswerError';
  }
}

function detailText({ path, message }: ErrorDetails[number]): string {
  return `${path === '' ? 'The body' : path} ${message}`;
}

const exits: Readonly<Partial<Record<ManagementErrorCode, ExitName>>> = {
  policy_archived: 'refused',
  policy_deleting: 'refused',
  model_deleting: 'refused',
  policy_revision_unknown: 'not_found',
  policy_revision_purged: 'refused',
  revision_purged: 'refused',
  revision_in_use: 'refused',
  approval_required: 'refused',
  approval_of_requester: 'refused',
  change_frozen: 'refused',
  freeze_quota_reached: 'refused',
};

function exitOf(status: number, code: ManagementErrorCode): ExitName {
  const named = exits[code];
  if (named !== undefined) return named;
  if (status === 401) return 'unauthenticated';
  if (status === 403) return 'refused';
  if (status === 404) return 'not_found';
  if (status === 409 || status === 412) return 'conflict';
  if (status === 400 || status === 413 || status === 422) return 'usage';
  return 'failed';
}
