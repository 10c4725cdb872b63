import { type Leadership, LeadershipLostError } from './leadership.ts';

export type Acting = AsyncDisposable & {
  /** Resolves when this process led and leads no more, other than by disposal. */
  readonly lost: Promise<LeadershipLostError>;
};

/**
 * Starts to act when this process leads, which may be at once or never. Disposing ends what acts, and afterwards nothing
 * starts any more; the leadership itself stays until it is disposed of.
 */
export function actAsLeader(leadership: Leadership, start: () => AsyncDisposable): Acting {
  const parts = new AsyncDisposableStack();
  const begun = leadership.elected.then(() => {
    if (!parts.disposed) parts.use(start());
  });
  const lost = leadership.lost.then(
    (why) => new LeadershipLostError(`leadership was lost: ${why}; the process ends, and a standby acts`),
  );
  // What cannot start ends the process like any other mistake.
  return {
    lost: Promise.race([lost, begun.then(() => lost)]),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}
