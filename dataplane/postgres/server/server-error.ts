type ServerFault =
  | 'no_binaries'
  | 'folder_unusable'
  | 'folder_in_use'
  | 'other_major_version'
  | 'address_taken'
  | 'wrong_password'
  | 'did_not_start'
  | 'ended';

/** The embedded PostgreSQL cannot run. The message names the reason and the remedy, and contains no secret. */
export class ServerError extends Error {
  readonly code: ServerFault;

  constructor(code: ServerFault, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'ServerError';
    this.code = code;
  }
}
