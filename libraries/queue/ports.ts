/**
 * Notifications that a table has work (hints). A notification has no count and no content: it can be lost, repeated,
 * late or merged with another notification, and the table is also read at an interval (reconciliation). A topic has 1
 * to 40 lower-case letters, digits and underscores, and begins with a letter; any other topic throws a TypeError.
 */
export type HintQueue = AsyncDisposable & {
  /**
   * Publishes a hint after the transaction that made the work has committed.
   * @throws QueueUnavailableError: the hint may have been lost
   */
  publish(topic: string): Promise<void>;
  /**
   * Calls `onHint`, which must not throw, after hints that are published once this has resolved, and once after each gap
   * of the connection, in which hints may have been lost. Every subscriber of every process receives them. Disposing the
   * answer ends the calls.
   * @throws QueueUnavailableError
   */
  subscribe(topic: string, onHint: () => void): Promise<AsyncDisposable>;
};

/** A message of a log. Its id identifies a repeated message. */
export type LoggedMessage = { readonly id: string; readonly body: string; readonly contentType: string };

/** Messages that are kept for other programs, in the order in which they were stored. */
export type MessageLog = AsyncDisposable & {
  /**
   * Stores a message under a topic. The promise never rejects. `stored`: the log has the message; `refused`: the log
   * never accepts this message; `failed`: it is not known whether the message is stored, so that the caller should try
   * again later.
   */
  store(topic: string, message: LoggedMessage): Promise<'stored' | 'refused' | 'failed'>;
};
