import { join } from 'node:path';
import { createSemaphore } from '#kit/concurrency/semaphore';
import { runChild } from '#kit/process/run-child';
import { BrokenError } from '../reconcile/outcome.ts';
import {
  maxVersionVerdictBytes,
  type VersionJob,
  type VersionVerdict,
  versionVerdictSchema,
} from './checking/version-check.ts';

/** Timeout of all checks and tests of one version. */
const checkTimeoutMs = 30_000;
/** Limit of concurrent checks, because each uses a core. */
const atOnce = 2;

/** A verdict, or `late` if the checks exceeded the timeout. */
export type VersionOutcome = VersionVerdict | { readonly kind: 'late' };

export type VersionChecks = {
  /** @throws BrokenError if the child process fails; the reason of the signal */
  check(job: VersionJob, signal: AbortSignal): Promise<VersionOutcome>;
};

/** Starts a child process for each version, because its texts come from an author and must not block the operator. */
export function createVersionChecks({
  timeoutMs = checkTimeoutMs,
}: {
  readonly timeoutMs?: number;
} = {}): VersionChecks {
  const file = join(import.meta.dirname, 'checking', 'main.ts');
  const slots = createSemaphore(atOnce);
  return {
    async check({ flow, manifest, tests, subflows }, signal) {
      const release = await slots.acquire(signal);
      try {
        const ended = await runChild(file, {
          input: JSON.stringify({ flow, manifest, tests, subflows }),
          timeoutMs,
          signal,
          maxOutputBytes: maxVersionVerdictBytes,
        });
        if (ended.timedOut) return { kind: 'late' };
        if (ended.code !== 0) throw new BrokenError('CheckUnavailable', 'the check of the version ended with an error');
        return versionVerdictSchema.parse(JSON.parse(ended.stdout));
      } finally {
        release();
      }
    },
  };
}
