/**
 * Runs writes one after another, in the background. A failure is kept for `ended`, so that it does not become an
 * unhandled rejection.
 */
export function createSaves(write: () => Promise<void>): {
  /** Starts a write after those before it. */
  start(): void;
  /** @throws the first failure */
  ended(): Promise<void>;
} {
  let last = Promise.resolve();
  return {
    start() {
      last = last.then(write);
      last.catch(() => undefined);
    },
    ended: () => last,
  };
}
