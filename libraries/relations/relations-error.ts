import { SqlUnavailableError } from '#sql/connect';

/** The result of a check or change is unknown: the store is unreachable, is too slow, or refuses this client. */
export class RelationsUnavailableError extends Error {
  readonly code = 'relations_unavailable';
  /** Whether the store did not answer in time. */
  readonly isLate: boolean;

  /** @param reason a status or a code, without a text of the store */
  constructor(
    cause?: unknown,
    isLate = false,
    reason = cause instanceof SqlUnavailableError ? cause.reason : undefined,
  ) {
    super(`the store of relations does not answer${reason === undefined ? '' : `: ${reason}`}`, { cause });
    this.name = 'RelationsUnavailableError';
    this.isLate = isLate;
  }
}

/** The store did not answer a change, which may have been made. If it was made, it gets its audit entry later. */
export class UndecidedChangeError extends RelationsUnavailableError {
  constructor(cause: RelationsUnavailableError) {
    super(cause, cause.isLate);
    this.name = 'UndecidedChangeError';
  }
}

type RelationsModelFault =
  | 'bad_object'
  | 'bad_subject'
  | 'unknown_relation'
  | 'too_many'
  | 'contradiction'
  | 'bad_cursor'
  | 'too_complex';

/** The model does not allow the argument. The store was not called, and nothing was changed. */
export class RelationsModelError extends Error {
  readonly code: RelationsModelFault;

  constructor(code: RelationsModelFault, message: string) {
    super(message);
    this.name = 'RelationsModelError';
    this.code = code;
  }
}
