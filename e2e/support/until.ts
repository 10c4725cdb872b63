import { setTimeout as pause } from 'node:timers/promises';

/** Thrown when a condition did not come true; says what was waited for and the last thing that was seen. */
export class DeadlineError extends Error {
  constructor(what: string, deadlineMs: number, last: unknown) {
    super(`${what} did not happen within ${deadlineMs} ms; last seen: ${describe(last)}`);
    this.name = 'DeadlineError';
  }
}

function describe(value: unknown): string {
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  return JSON.stringify(value) ?? String(value);
}

export type UntilOptions = { readonly deadlineMs?: number; readonly everyMs?: number };

/**
 * Asks again and again until the answer is neither undefined nor false, and returns it. A probe that throws counts as
 * not yet.
 */
export async function until<T>(
  what: string,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  { deadlineMs = 30_000, everyMs = 25 }: UntilOptions = {},
): Promise<T> {
  const end = performance.now() + deadlineMs;
  let last: unknown;
  for (;;) {
    try {
      const value = await probe();
      if (value !== undefined && value !== false) return value;
      last = value;
    } catch (error) {
      last = error;
    }
    if (performance.now() >= end) throw new DeadlineError(what, deadlineMs, last);
    await pause(everyMs);
  }
}
