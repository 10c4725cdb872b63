/** The notification queue is unreachable, is too slow, or refuses this client. The table of jobs is not affected. */
export class QueueUnavailableError extends Error {
  readonly code = 'queue_unavailable';

  /** @param reason code of the database or name of the driver's error; never a message, which may quote an address */
  constructor(reason: string) {
    super(`the queue of hints does not answer (${reason})`);
    this.name = 'QueueUnavailableError';
  }
}
