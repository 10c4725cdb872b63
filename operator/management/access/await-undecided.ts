import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '#kit/time/clock';

/** Commands that a process is executing: neither accepted nor ended, and leased. */
export type UndecidedCommands = { undecided(): Promise<readonly string[]> };

/** Longest wait for commands that were stored before; longer than their lease. */
const settleMs = 25_000;
const pollMs = 25;

/**
 * Waits until the commands that are being executed now have ended. Later ones check rights and freeze windows after
 * they are stored. @returns false if a command has not ended when the time is over @throws RecordsUnavailableError
 */
export async function awaitUndecided(store: UndecidedCommands, clock: Clock): Promise<boolean> {
  const until = clock.now() + settleMs;
  let open = await store.undecided();
  while (open.length > 0 && clock.now() < until) {
    await pause(pollMs);
    const still = new Set(await store.undecided());
    open = open.filter((id) => still.has(id));
  }
  return open.length === 0;
}
