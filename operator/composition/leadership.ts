/** Which of several operators leads. Disposing releases the lease; dispose of writers first. */
export type Leadership = AsyncDisposable & {
  /** Resolves when this process leads, at most once; never again after `lost`. */
  readonly elected: Promise<void>;
  /** Resolves with a sentence when it leads no more, other than by disposal: the process has to end. */
  readonly lost: Promise<string>;
  /** What is wrong with the election itself, so that only a restart helps; undefined while it is well. */
  problem(): string | undefined;
};

/** This process led, and another one does now. */
export class LeadershipLostError extends Error {
  override readonly name = 'LeadershipLostError';
  readonly code = 'leadership_lost';
}

/** Where there is one operator only. */
export const soleLeader: Leadership = {
  elected: Promise.resolve(),
  lost: new Promise(() => undefined),
  problem: () => undefined,
  [Symbol.asyncDispose]: () => Promise.resolve(),
};
