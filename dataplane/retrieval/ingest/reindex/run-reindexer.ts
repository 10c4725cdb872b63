import { keepLease } from '#kit/concurrency/keep-lease';
import { startWorkLoop, type WorkLoop } from '#kit/concurrency/work-loop';
import { describeFailure } from '#kit/log/describe-failure';
import type { Logger } from '#kit/log/logger';
import { DocumentFault } from '../faults.ts';
import { dependencyOf, failingProviderIn } from '../worker/dependency-of.ts';
import type { IngestPorts } from '../worker/ingest-ports.ts';
import { watchProgress } from '../worker/watch-progress.ts';
import { buildIndex, buildTurnMs } from './build-index.ts';
import {
  type ClaimedVersion,
  claimVersion,
  countDone,
  deferVersion,
  failVersion,
  releaseVersion,
  renewVersion,
} from './claim-version.ts';
import { type ClearPorts, versionClearer } from './clear-versions.ts';

type ReindexerOptions = Pick<ClearPorts, 'dropPartition' | 'graceMs'> & {
  readonly logger: Logger;
  readonly leaseMs: number;
  /** Called when an old version could not be removed; the removal is retried. */
  readonly onRemovalFailed: (error: unknown) => void;
  /** How often the table is polled, milliseconds. */
  readonly pollMs: number;
};

/** How a claim of a building version ended. */
type BuildEnd = 'switched' | 'claim_over' | 'failed' | 'released' | 'waiting' | 'turn_over';

/** Pause before a build continues after a fault, milliseconds. */
const pauseMs = 5_000;

/** Pauses for documents that jobs are writing, milliseconds; each claim reads all documents of the collection. */
const waits = { leastMs: 200, mostMs: 10_000, shareOfAge: 0.1 } as const;

/** How long a version that waits for jobs is not claimed: a tenth of its age, within two limits. */
export function pauseOfWait(ageMs: number): number {
  return Math.min(Math.max(ageMs * waits.shareOfAge, waits.leastMs), waits.mostMs);
}

/**
 * Builds versions and removes old ones until it is disposed, one version at a time and in turns between tenants. A
 * version that waits for jobs does not delay other versions. Neither does an unavailable index, which keeps its old
 * versions.
 */
export function runReindexer(ports: IngestPorts, options: ReindexerOptions): WorkLoop {
  const { logger } = options;

  const clearVersions = versionClearer({
    ...options,
    database: ports.database,
    now: () => performance.now(),
    onFailed({ collectionId: collection, version }, error) {
      options.onRemovalFailed(error);
      logger.warn('reindexer_removal_failed', { collection, version, failure: describeFailure(error) });
    },
  });

  async function clear(signal: AbortSignal): Promise<boolean> {
    try {
      await clearVersions(signal);
    } catch (error) {
      options.onRemovalFailed(error);
      logger.warn('reindexer_removal_failed', { failure: describeFailure(error) });
    }
    return false;
  }

  async function build(signal: AbortSignal): Promise<boolean> {
    try {
      return (await buildNext(ports, options, signal)) !== undefined;
    } catch (error) {
      logger.warn('reindexer_failed', { failure: describeFailure(error) });
      return false;
    }
  }

  const { pollMs } = options;
  const loops = [clear, build].map((step) => startWorkLoop(step, { concurrency: 1, pollMs }));
  return {
    wake() {
      for (const loop of loops) loop.wake();
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(loops.map((loop) => loop[Symbol.asyncDispose]()));
    },
  };
}

/** Claims a building version and processes it; undefined if no version is due. */
export async function buildNext(
  ports: IngestPorts,
  options: Pick<ReindexerOptions, 'logger' | 'leaseMs'> & { readonly turnMs?: number },
  signal: AbortSignal,
): Promise<BuildEnd | undefined> {
  const { sql } = ports.database;
  const claim = await claimVersion(sql, options.leaseMs);
  if (claim === undefined) return undefined;
  const watched = watchProgress(ports);
  using lease = keepLease(() => renewVersion(sql, claim, options.leaseMs), options.leaseMs, signal);
  // A failed count, for example because of its timeout, must not end the build: only the displayed progress depends on
  // it.
  await countDone(sql, claim).catch((error) =>
    options.logger.warn('reindex_count_failed', {
      collection: claim.collectionId,
      version: claim.version,
      failure: describeFailure(error),
    }),
  );
  try {
    const { turnMs = buildTurnMs } = options;
    const end = await buildIndex(watched.ports, claim, { turnMs, signal: lease.signal });
    if (end === 'waiting') await deferVersion(sql, claim, pauseOfWait(claim.ageMs));
    if (end === 'turn_over') await deferVersion(sql, claim, 0);
    return end;
  } catch (error) {
    options.logger.warn('reindex_attempt_ended', {
      collection: claim.collectionId,
      version: claim.version,
      failure: describeFailure(error),
    });
    return recordEnd(ports, claim, { error, hasProgress: watched.hasProgress() }, signal);
  }
}

async function recordEnd(
  { database: { sql } }: IngestPorts,
  claim: ClaimedVersion,
  { error, hasProgress }: { readonly error: unknown; readonly hasProgress: boolean },
  signal: AbortSignal,
): Promise<BuildEnd> {
  if (error instanceof DocumentFault) {
    await failVersion(sql, claim, error);
    return 'failed';
  }
  // A worker that shuts down releases the version. A defect of the program is retried like an unavailable dependency.
  await releaseVersion(sql, claim, dependencyOf(error) ?? 'the worker', {
    pauseMs: signal.aborted ? 0 : pauseMs,
    failing: failingProviderIn(error),
    hasProgress,
  });
  return 'released';
}
