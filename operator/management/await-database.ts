import { setTimeout as pause } from 'node:timers/promises';
import { type Database, SqlUnavailableError } from '#sql/connect';

export type DatabasePatience = {
  /** How long a database that does not answer is waited for, milliseconds. */
  readonly patienceMs: number;
  readonly everyMs: number;
  /** Told once for each reason in a row. */
  readonly onAway: (reason: string) => void;
  readonly signal?: AbortSignal | undefined;
};

/**
 * Waits for a database that does not answer yet: in a cluster it starts at the same time.
 * @throws SqlUnavailableError where it does not answer in time, and the reason of the signal
 */
export async function awaitDatabase(
  { sql }: Pick<Database, 'sql'>,
  { patienceMs, everyMs, onAway, signal }: DatabasePatience,
): Promise<void> {
  let told: string | undefined;
  for (const deadline = performance.now() + patienceMs; ; ) {
    signal?.throwIfAborted();
    const error = await sql`select 1`.then(
      () => undefined,
      (failure: unknown) => failure,
    );
    if (error === undefined) return;
    if (!(error instanceof SqlUnavailableError) || performance.now() >= deadline) throw error;
    if (error.reason !== told) onAway(error.reason);
    told = error.reason;
    await pause(everyMs, undefined, { signal });
  }
}
