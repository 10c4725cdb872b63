import { setImmediate } from 'node:timers/promises';
import type { Clock } from '#kit/time/clock';

/** Milliseconds that engine passes of one check may run before the event loop gets its turn. */
export const turnMs = 1;

/** The time of one check: its deadline on the monotonic clock, and when its engine passes last gave way. */
export type Turn = { readonly clock: Clock; readonly deadline: number; since: number };

export function startTurn(clock: Clock, deadline: number): Turn {
  return { clock, deadline, since: clock.now() };
}

/**
 * To be called between engine passes: gives way to the event loop when this turn has used its share.
 * The engine cannot be interrupted, so this is where other requests, timers and the deadline get heard.
 */
export async function giveWay(turn: Turn): Promise<void> {
  // An immediate that is set while sockets are read comes before timers and the next reading; its successor comes after.
  await setImmediate();
  await setImmediate();
  turn.since = turn.clock.now();
}

export function mustGiveWay(turn: Turn, now: number): boolean {
  return now - turn.since >= turnMs;
}
