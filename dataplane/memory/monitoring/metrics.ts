import { createBacklogMetrics } from '#api/backlog-metrics';
import { createRequestMetrics, type RequestMetrics } from '#api/request-metrics';
import { type AuditExportMetrics, createAuditExportMetrics } from '#audit/export-metrics';
import { type MemoryErrorCode, memoryErrors } from '#contracts/memory-errors';
import { maxIssuers } from '#identity/issuers-file';
import { createMetrics, type Metrics } from '#kit/metrics/metrics';
import { ModelsError } from '#models/models-error';
import { SearchUnavailableError } from '#search/search-error';
import { SqlUnavailableError } from '#sql/connect';
import { TooManyMemoriesError } from '../events/event-fault.ts';
import type { EventEnd } from '../events/run-events.ts';
import { StoredTextError } from '../facts/guard-stored.ts';
import { type MaintenancePart, maintenanceParts } from '../facts/maintain-memories.ts';
import { type MemoryOperation, memoryOperationNames } from '../http/memory-table.ts';
import { IndexFullError } from '../people/index-room.ts';
import { type QuotaName, quotaNames } from '../people/memory-quota.ts';
import type { EventBacklog } from './read-backlog.ts';

const codes = Object.keys(memoryErrors) as MemoryErrorCode[];
const ends: readonly EventEnd[] = [
  'succeeded',
  'failed',
  'index_full',
  'exhausted',
  'claim_over',
  'released',
  'returned',
  'abandoned',
];
const dependencies = ['postgres', 'models', 'index', 'guard'] as const;
/** Files that are read again on change. */
type FollowedFile = 'models' | 'guard_target';
const followedFiles: readonly FollowedFile[] = ['models', 'guard_target'];

export type MemoryMetrics = RequestMetrics<MemoryOperation, MemoryErrorCode> & {
  readonly registry: Metrics;
  readonly auditExport: AuditExportMetrics;
  eventEnded(end: EventEnd): void;
  /** Counts events that FAILED because their workers died as often as allowed. */
  undelivered(events: number): void;
  /** The result of reading the table of events; undefined if the database did not answer. */
  backlog(found: EventBacklog | undefined): void;
  maintenanceFailed(part: MaintenancePart): void;
  /**
   * Counts an error of a request, an attempt or a maintenance pass if its cause is an unavailable dependency or a quota.
   */
  dependencyFailed(error: unknown): void;
  /** Counts a request that was refused because a quota is reached. */
  quotaReached(quota: QuotaName): void;
  /** Receives whether the newest change of a followed file was refused, so that the earlier content is in use. */
  fileRefused(file: FollowedFile, isRefused: boolean): void;
  /** The memories that this process stores are judged by no policy. */
  unguarded(): void;
};

export function createMemoryMetrics(): MemoryMetrics {
  const registry = createMetrics({ service: 'memory' });
  const requests = createRequestMetrics(registry, {
    service: 'memory',
    operations: memoryOperationNames,
    codes,
    mostIssuers: maxIssuers,
  });
  const attempts = registry.counter({
    name: 'portcullis_memory_event_attempts_total',
    help: 'Ended attempts to process an event, by how they ended.',
    labels: { end: ends },
  });
  // An increase from no series to 1 is no increase for a query, an increase from 0 is.
  for (const end of ends) attempts.add({ end }, 0);
  const waiting = createBacklogMetrics(registry, {
    service: 'memory',
    names: { open: 'portcullis_memory_open_events', oldest: 'portcullis_memory_oldest_event_seconds' },
    items: 'Events that are neither SUCCEEDED nor FAILED',
    item: 'event that is neither SUCCEEDED nor FAILED',
  });
  const unembedded = registry.gauge({
    name: 'portcullis_memory_without_vector',
    help: 'Memories that have had no vector for an hour after their last change, and are found by their words only; at most 10,000 are read, and none without a profile.',
    labels: {},
  });
  const delayed = registry.gauge({
    name: 'portcullis_memory_vectors_delayed',
    help: 'Memories whose next vector is delayed, because the embedder answered their text with an invalid one; at most 10,000 are counted.',
    labels: {},
  });
  const maintenance = registry.counter({
    name: 'portcullis_memory_maintenance_failures_total',
    help: 'Steps of maintenance that failed, by part; the other parts continue.',
    labels: { part: maintenanceParts },
  });
  const failures = registry.counter({
    name: 'portcullis_memory_dependency_failures_total',
    help: 'Failures of dependencies that requests, attempts to process an event, and repeated embeddings met.',
    labels: { dependency: dependencies },
  });
  const quotas = registry.counter({
    name: 'portcullis_memory_quota_refusals_total',
    help: 'Requests and adds that were refused because a quota of the user or of the tenant is reached.',
    labels: { quota: quotaNames },
  });
  for (const quota of quotaNames) quotas.add({ quota }, 0);
  const unguarded = registry.gauge({
    name: 'portcullis_memory_memories_unguarded',
    help: '1 if this process stores memories UNGUARDED, without a policy that judges their texts, else 0.',
    labels: {},
  });
  unguarded.set({}, 0);
  const refused = registry.gauge({
    name: 'portcullis_memory_file_refused',
    help: '1 while the newest change of a file is refused and its content before it is in use, else 0.',
    labels: { file: followedFiles },
  });
  return {
    registry,
    auditExport: createAuditExportMetrics(registry),
    ...requests,
    eventEnded: (end) => attempts.add({ end }),
    undelivered: (events) => attempts.add({ end: 'exhausted' }, events),
    backlog(found) {
      waiting(found);
      if (found === undefined) return;
      unembedded.set({}, found.unembedded);
      delayed.set({}, found.delayed);
    },
    maintenanceFailed: (part) => maintenance.add({ part }),
    quotaReached: (quota) => quotas.add({ quota }),
    dependencyFailed(error) {
      if (error instanceof TooManyMemoriesError) quotas.add({ quota: 'user_memories' });
      if (error instanceof IndexFullError) quotas.add({ quota: 'user_index' });
      if (error instanceof SqlUnavailableError) failures.add({ dependency: 'postgres' });
      if (error instanceof StoredTextError && error.code === 'unavailable') failures.add({ dependency: 'guard' });
      if (error instanceof SearchUnavailableError) failures.add({ dependency: 'index' });
      if (error instanceof ModelsError && error.code !== 'denied' && error.code !== 'refused') {
        failures.add({ dependency: 'models' });
      }
    },
    unguarded: () => unguarded.set({}, 1),
    fileRefused: (file, isRefused) => refused.set({ file }, isRefused ? 1 : 0),
  };
}
