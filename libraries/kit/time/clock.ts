/** Time as a port, so that a test can move it. */
export type Clock = {
  /** Milliseconds that never go back; only differences mean something. */
  now(): number;
  /** The time of day. */
  date(): Date;
};

/** The clock of this machine. */
export const systemClock: Clock = {
  now: () => performance.now(),
  date: () => new Date(),
};
