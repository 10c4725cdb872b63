/** Writes one after another, beside other work. A failure is kept for `ended` and is not an unhandled rejection until then. */
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
