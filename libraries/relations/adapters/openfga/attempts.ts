import { setTimeout as pause } from 'node:timers/promises';
import type { FgaApiError } from '@openfga/sdk';

/** Maximum number of attempts of a change that conflicts with another change of the same tuples. */
const conflictTries = 8;
const conflictMs = 20;
/** Time after which no more attempts of a change are started, milliseconds. */
const conflictLimitMs = 15_000;
/** Pause before the repetition of a read, milliseconds. The time that the server requests can be half an hour. */
const readPauseMs = 100;

type Sdk = Pick<typeof import('@openfga/sdk'), 'FgaError' | 'FgaValidationError'>;

/** Repeats a read once that got no answer, or the answer of a server that cannot answer now. */
export async function readTwice<T>(sdk: Sdk, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!mayPass(sdk, error)) throw error;
    await pause(readPauseMs);
    return run();
  }
}

function mayPass(sdk: Sdk, error: unknown): boolean {
  if (!(error instanceof sdk.FgaError) || error instanceof sdk.FgaValidationError) return false;
  const status = httpStatusOf(error);
  return status === undefined || status === 429 || (status >= 500 && status !== 501);
}

/**
 * Retries a change that the server refused with 409, because of a concurrent change of the same tuples. After every other error the
 * change may have been made, and is not sent again: a late copy could undo a later change.
 */
export async function untilNoConflict(run: () => Promise<unknown>): Promise<void> {
  const begun = performance.now();
  for (let tried = 1; ; tried += 1) {
    try {
      await run();
      return;
    } catch (error) {
      if (!(error instanceof Error) || httpStatusOf(error) !== 409 || tried === conflictTries) throw error;
      await pause(conflictMs * tried);
      if (performance.now() - begun > conflictLimitMs) throw error;
    }
  }
}

export function httpStatusOf(error: Error): number | undefined {
  return (error as FgaApiError).statusCode;
}
