/** Leadership among operator replicas. Disposing releases the lease; dispose of writers first. */
export type Leadership = AsyncDisposable & {
  /** Resolves when this process becomes the leader, at most once; never after `lost`. */
  readonly elected: Promise<void>;
  /** Resolves with a message when leadership is lost other than by disposal: the process must exit. */
  readonly lost: Promise<string>;
  /** A fault of the election that only a restart resolves; undefined without such a fault. */
  problem(): string | undefined;
};

/** Another process has taken the leadership from this process. */
export class LeadershipLostError extends Error {
  override readonly name = 'LeadershipLostError';
  readonly code = 'leadership_lost';
}

/** Leadership for a single operator: always the leader. */
export const soleLeader: Leadership = {
  elected: Promise.resolve(),
  lost: new Promise(() => undefined),
  problem: () => undefined,
  [Symbol.asyncDispose]: () => Promise.resolve(),
};
