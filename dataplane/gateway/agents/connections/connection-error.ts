import { type ConnectionErrorCode, connectionErrors } from '#contracts/connections';

/** The error with which a call of a connection ends. Its message has no text of the call and no text of the service. */
export class ConnectionError extends Error {
  readonly code: ConnectionErrorCode;

  constructor(code: ConnectionErrorCode) {
    super(connectionErrors[code].meaning);
    this.name = 'ConnectionError';
    this.code = code;
  }
}
