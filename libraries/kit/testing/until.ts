import { setTimeout as pause } from 'node:timers/promises';

/** A condition did not become true before the deadline; the message has the last value or error of the probe. */
export class DeadlineError extends Error {
  constructor(condition: string, deadlineMs: number, last: unknown) {
    super(`${condition}: not true within ${deadlineMs} ms; last seen: ${describe(last)}`);
    this.name = 'DeadlineError';
  }
}

function describe(value: unknown): string {
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  return JSON.stringify(value) ?? String(value);
}

export type UntilOptions = {
  readonly deadlineMs?: number;
  /** Interval between two probes; by default it begins at 10 ms and grows by a quarter each time, up to 150 ms. */
  readonly everyMs?: number;
};

/**
 * A last-resort limit for conditions that never become true; it is long enough for a machine that is many times slower.
 */
const longestMs = 300_000;

/**
 * The limit after the first such failure in a process: if many tests wait for the same fault, the first failure is
 * enough to report it.
 */
const repeatedMs = 15_000;

let limitMs = longestMs;

/**
 * Polls until the probe returns a value other than undefined and false, and returns that value. A probe that throws is
 * repeated.
 */
export async function until<T>(
  condition: string,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  { deadlineMs = limitMs, everyMs }: UntilOptions = {},
): Promise<T> {
  const end = performance.now() + deadlineMs;
  let last: unknown;
  for (let pauseMs = 10; ; pauseMs = Math.min(pauseMs * 1.25, 150)) {
    try {
      const value = await probe();
      if (value !== undefined && value !== false) return value;
      last = value;
    } catch (error) {
      last = error;
    }
    if (performance.now() >= end) {
      if (deadlineMs === longestMs) limitMs = repeatedMs;
      throw new DeadlineError(condition, deadlineMs, last);
    }
    await pause(everyMs ?? pauseMs);
  }
}
