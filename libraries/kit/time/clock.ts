/** A source of time that a test can replace. */
export type Clock = {
  /** Monotonic milliseconds; only differences are meaningful. */
  now(): number;
  /** The time of day. */
  date(): Date;
};

/** The clock of this machine. */
export const systemClock: Clock = {
  now: () => performance.now(),
  date: () => new Date(),
};
