import { setImmediate } from 'node:timers/promises';
import type { Clock } from '#kit/time/clock';

/** Milliseconds that engine passes of one check may run before the event loop gets its turn. */
export const turnMs = 1;

/**
 * The time of one check on the monotonic clock: its deadline, when its engine passes last gave way, and the last reading
 * of the clock. A reading costs as much as a pass that has nothing to do, so whoever has just worked takes the last one.
 */
export type Turn = { readonly clock: Clock; readonly deadline: number; since: number; now: number };

export function startTurn(clock: Clock, deadline: number): Turn {
  const now = clock.now();
  return { clock, deadline, since: now, now };
}

/** Reads the clock. */
export function look(turn: Turn): number {
  turn.now = turn.clock.now();
  return turn.now;
}

/**
 * To be called between engine passes: gives way to the event loop when this turn has used its share.
 * The engine cannot be interrupted, so this is where other requests, timers and the deadline get heard.
 */
export async function giveWay(turn: Turn): Promise<void> {
  // An immediate that is set while sockets are read comes before timers and the next reading; its successor comes after.
  await setImmediate();
  await setImmediate();
  turn.since = look(turn);
}

/** Whether the last reading says that this turn has used its share. */
export function mustGiveWay({ since, now }: Turn): boolean {
  return now - since >= turnMs;
}

/** Whether the last reading says that the stage is over. */
export function isOver({ deadline, now }: Turn): boolean {
  return now >= deadline;
}
