import { setImmediate } from 'node:timers/promises';
import type { Clock } from '#kit/time/clock';

/** How long engine passes of one check may run before they yield to the event loop, milliseconds. */
export const sliceMs = 1;

/**
 * The time of one check on the monotonic clock: its deadline, the last yield of its engine passes, and the last reading
 * of the clock. A reading costs as much as a short pass, so readings are shared.
 */
export type CheckClock = { readonly clock: Clock; readonly deadline: number; since: number; now: number };

export function startCheckClock(clock: Clock, deadline: number): CheckClock {
  const now = clock.now();
  return { clock, deadline, since: now, now };
}

/** Reads the clock. */
export function look(time: CheckClock): number {
  time.now = time.clock.now();
  return time.now;
}

/**
 * Yields to the event loop between engine passes. The engine cannot be interrupted, so that other requests, timers and
 * the deadline are handled at this point only.
 */
export async function yieldToEventLoop(time: CheckClock): Promise<void> {
  // The first immediate may run before due timers and pending reads; the second runs after them.
  await setImmediate();
  await setImmediate();
  time.since = look(time);
}

/** Whether the engine passes have used up their time slice, according to the last reading of the clock. */
export function mustYield({ since, now }: CheckClock): boolean {
  return now - since >= sliceMs;
}

/** Whether the stage deadline has passed, according to the last reading of the clock. */
export function isPastDeadline({ deadline, now }: CheckClock): boolean {
  return now >= deadline;
}
