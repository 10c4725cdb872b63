import { wait } from '#kit/time/wait';
import { waitAtMost } from './wait-at-most.ts';

/**
 * Longest waits of a query of an index in memory, milliseconds; after them the query fails with SearchUnavailableError
 * `behind`.
 */
export const queryWaits = {
  /** Longest wait for the changes that a query must reflect. */
  followMs: 1_000,
  /** Longest wait for a partition that is not in memory yet. */
  loadMs: 10_000,
} as const;

/** Pause before a source that did not name the awaited change is read again, milliseconds. */
const pauseMs = 20;
const neverAborted = new AbortController().signal;

/** A partition in memory that follows its source. */
type FollowingPartition = {
  /** The number of the newest applied change. */
  readonly appliedThrough: bigint;
  /** True once the partition was evicted or is stale: a query then loads it again. */
  readonly isRetired: boolean;
};

/**
 * Applies committed changes until the partition reflects the change `reflects`, or is retired.
 * @param follow reads the source once and applies the changes in it
 * @throws SearchUnavailableError `behind` after `queryWaits.followMs`; the reason of the signal
 */
export async function catchUp(
  partition: FollowingPartition,
  reflects: bigint,
  follow: () => Promise<void>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const deadline = performance.now() + queryWaits.followMs;
  while (partition.appliedThrough < reflects && !partition.isRetired) {
    const before = partition.appliedThrough;
    const ms = deadline - performance.now();
    await waitAtMost(follow(), { ms, signal });
    if (partition.appliedThrough === before) await wait(Math.min(pauseMs, ms), signal ?? neverAborted);
  }
}
