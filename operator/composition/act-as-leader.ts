import { type Leadership, LeadershipLostError } from './leadership.ts';

type Acting = AsyncDisposable & {
  /** Resolves when this process has lost its leadership, other than by disposal. */
  readonly lost: Promise<LeadershipLostError>;
};

/**
 * Starts the controllers when this process becomes the leader, which may happen immediately or never. Disposing the
 * result stops the controllers permanently; the leadership itself is kept until it is disposed.
 */
export function actAsLeader(leadership: Leadership, start: () => AsyncDisposable): Acting {
  const parts = new AsyncDisposableStack();
  const begun = leadership.elected.then(() => {
    if (!parts.disposed) parts.use(start());
  });
  const lost = leadership.lost.then(
    (why) => new LeadershipLostError(`leadership was lost: ${why}; the process exits, and a standby takes over`),
  );
  // A failed start ends the process like any other unexpected error.
  return {
    lost: Promise.race([lost, begun.then(() => lost)]),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}
