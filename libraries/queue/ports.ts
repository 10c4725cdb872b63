/**
 * Hints that there is work in a table. A hint owns no count and no content: it can be lost, repeated and late, and the
 * table is read again at an interval (reconciliation). Every method throws QueueUnavailableError if the queue is away.
 */
export type HintQueue = AsyncDisposable & {
  /** Publishes a hint after the transaction that made the work has committed. */
  publish(topic: string): Promise<void>;
  /** Calls `onHint` for each hint, and once after each gap of the connection, in which hints may have been lost. */
  subscribe(topic: string, onHint: () => void): Promise<AsyncDisposable>;
};
