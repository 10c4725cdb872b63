/** Why a command about local clusters failed. Programs distinguish the codes; the message is for people. */
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
