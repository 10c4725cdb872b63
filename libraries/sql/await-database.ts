import { setTimeout as pause } from 'node:timers/promises';
import { type Database, SqlUnavailableError } from './connect.ts';

type DatabaseWait = {
  /** Longest wait, milliseconds. */
  readonly timeoutMs: number;
  readonly everyMs: number;
  /** Called when the reason changes. */
  readonly onUnavailable: (reason: string) => void;
  readonly signal?: AbortSignal | undefined;
};

/**
 * Waits until the database answers: in a cluster it may start at the same time.
 * @throws SqlUnavailableError on timeout, and the reason of the signal when that aborts
 */
export async function awaitDatabase(
  { sql }: Pick<Database, 'sql'>,
  { timeoutMs, everyMs, onUnavailable, signal }: DatabaseWait,
): Promise<void> {
  let reported: string | undefined;
  for (const deadline = performance.now() + timeoutMs; ; ) {
    signal?.throwIfAborted();
    const error = await sql`select 1`.then(
      () => undefined,
      (failure: unknown) => failure,
    );
    if (error === undefined) return;
    if (!(error instanceof SqlUnavailableError) || performance.now() >= deadline) throw error;
    if (error.reason !== reported) onUnavailable(error.reason);
    reported = error.reason;
    await pause(everyMs, undefined, { signal });
  }
}
