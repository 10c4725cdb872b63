/** Why a command about clusters failed: a program tells the codes apart, a person reads the message. */
type ClusterErrorCode =
  | 'usage'
  | 'not-found'
  | 'missing-program'
  | 'not-root'
  | 'port-in-use'
  | 'no-space'
  | 'build-failed'
  | 'component-failed'
  | 'busy';

/** The message names the problem, its place and the remedy. */
export class ClusterError extends Error {
  readonly code: ClusterErrorCode;

  constructor(code: ClusterErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ClusterError';
    this.code = code;
  }
}
