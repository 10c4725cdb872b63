import { join } from 'node:path';
import { createSemaphore } from '#kit/concurrency/semaphore';
import { childEnvironment } from '#kit/process/config';
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
/**
 * The heap of a check, MiB. Two runs with the most nodes, or with outputs of 64 MiB in two-byte texts, need less. The
 * process then has 200 MiB, so that two of them fit into the memory limit of the operator's pod in addition to it.
 */
const checkHeapMib = 96;

/** A verdict, or `late` if the checks exceeded the timeout or their memory. */
export type VersionOutcome = VersionVerdict | { readonly kind: 'late' };

export type VersionChecks = {
  /**
   * Returns undefined while the maximum number of checks is running.
   * @throws BrokenError if the child process fails; the reason of the signal
   */
  check(job: VersionJob, signal: AbortSignal): Promise<VersionOutcome | undefined>;
};

/**
 * Starts a child process for each version, because the texts of a version come from an author and must not block the
 * operator.
 */
export function createVersionChecks({
  timeoutMs = checkTimeoutMs,
  heapMib = checkHeapMib,
}: {
  readonly timeoutMs?: number;
  readonly heapMib?: number;
} = {}): VersionChecks {
  const file = join(import.meta.dirname, 'checking', 'main.ts');
  const slots = createSemaphore(atOnce);
  return {
    async check({ flow, manifest, tests, subflows, hasRun }, signal) {
      const release = slots.tryAcquire();
      if (release === undefined) return undefined;
      try {
        const ended = await runChild(file, {
          input: JSON.stringify({ flow, manifest, tests, subflows, hasRun }),
          env: { ...childEnvironment(), NODE_OPTIONS: `--max-old-space-size=${heapMib}` },
          timeoutMs,
          signal,
          maxOutputBytes: maxVersionVerdictBytes,
        });
        // A process without memory ends by a signal: of Node, or of the kernel.
        if (ended.timedOut || ended.code === null) return { kind: 'late' };
        if (ended.code !== 0) throw new BrokenError('CheckUnavailable', 'the check of the version ended with an error');
        return versionVerdictSchema.parse(JSON.parse(ended.stdout));
      } finally {
        release();
      }
    },
  };
}
