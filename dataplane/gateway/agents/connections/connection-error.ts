import { type ConnectionErrorCode, connectionErrors } from '#contracts/connections';

/** A call of a connection ends with this error. The message has no text of the call and none of the service. */
export class ConnectionError extends Error {
  readonly code: ConnectionErrorCode;

  constructor(code: ConnectionErrorCode) {
    super(connectionErrors[code].meaning);
    this.name = 'ConnectionError';
    this.code = code;
  }
}
