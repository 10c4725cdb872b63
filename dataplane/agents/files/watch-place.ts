import { startWorkLoop } from '#kit/concurrency/work-loop';
import type { Logger } from '#kit/log/logger';
import type { FileAccess } from './ports.ts';

/** Whether the place of the files of a version answers. Disposing the watch ends the probes. */
export type PlaceWatch = AsyncDisposable & { readonly isAway: boolean };

/**
 * Interval of the probes, time limit of one probe, and number of consecutive failures after which the store counts as
 * unavailable.
 */
const probes = { everyMs: 5_000, timeoutMs: 3_000, failures: 2 } as const;

type WatchOptions = { readonly access: FileAccess; readonly logger: Logger; readonly everyMs?: number | undefined };

/**
 * Probes the place of files. The first probe decides immediately, so that a version does not start while its files are
 * unavailable.
 */
export async function watchPlace({ access, logger, everyMs = probes.everyMs }: WatchOptions): Promise<PlaceWatch> {
  let failures = (await answers(access, new AbortController().signal)) ? 0 : probes.failures;
  if (failures > 0) logger.warn('file_store_unavailable', {});
  const loop = startWorkLoop(
    async (signal) => {
      const before = failures;
      const isThere = await answers(access, signal);
      if (signal.aborted) return false;
      failures = isThere ? 0 : failures + 1;
      if (failures === probes.failures && before < probes.failures) logger.warn('file_store_unavailable', {});
      if (isThere && before >= probes.failures) logger.info('file_store_available', {});
      return false;
    },
    { pollMs: everyMs },
  );
  return {
    get isAway() {
      return failures >= probes.failures;
    },
    [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose](),
  };
}

async function answers(access: FileAccess, signal: AbortSignal): Promise<boolean> {
  try {
    await access.probe(AbortSignal.any([signal, AbortSignal.timeout(probes.timeoutMs)]));
    return true;
  } catch {
    return false;
  }
}
