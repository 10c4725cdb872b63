import { wait } from '#kit/time/wait';
import { MigrationError, type MigrationFault } from './migrate.ts';

/**
 * The state of tables that a process opens in the background. `unknown`: the first attempt has not ended. `refused`:
 * the tables do not belong to this release, so that waiting for the database does not help.
 */
export type OpeningState = 'unknown' | 'away' | 'refused' | 'open';

type OpeningFailure =
  | { readonly state: 'away'; readonly code: string }
  /** The problem names the schema, the file and the remedy. */
  | { readonly state: 'refused'; readonly fault: MigrationFault; readonly problem: string };

/** Time between two attempts, milliseconds. */
const retryMs = 1_000;

/**
 * Opens tables, with an attempt each second until one succeeds or the signal aborts.
 * @param options.onFailure called once for each series of equal failures
 */
export async function openRepeatedly(
  open: () => Promise<void>,
  { signal, onFailure }: { readonly signal: AbortSignal; readonly onFailure: (failure: OpeningFailure) => void },
): Promise<void> {
  let reported: string | undefined;
  while (!signal.aborted) {
    try {
      return await open();
    } catch (error) {
      const failure = failureOf(error);
      const key = JSON.stringify(failure);
      if (key !== reported) onFailure(failure);
      reported = key;
      await wait(retryMs, signal);
    }
  }
}

function failureOf(error: unknown): OpeningFailure {
  if (error instanceof MigrationError) return { state: 'refused', fault: error.code, problem: error.message };
  return { state: 'away', code: error instanceof Error ? error.name : 'unexpected' };
}
