import { createBacklogMetrics } from '#api/backlog-metrics';
import { createRequestMetrics, type RequestMetrics } from '#api/request-metrics';
import { type AuditExportMetrics, createAuditExportMetrics } from '#audit/export-metrics';
import { type RetrievalErrorCode, retrievalErrors } from '#contracts/retrieval-errors';
import { maxIssuers } from '#identity/issuers-file';
import { createMetrics, type Metrics } from '#kit/metrics/metrics';
import { type RetrievalOperation, retrievalOperationNames } from '../http/retrieval-table.ts';
import { type SubmitLimit, submitLimits } from '../ingest/submit/check-quota.ts';
import type { AttemptEnd } from '../ingest/worker/attempt-job.ts';
import type { IngestStep } from '../ingest/worker/ingest-ports.ts';
import { type FailedDependency, failedDependencies, failedDependency } from './failed-dependency.ts';
import type { Backlog } from './read-backlog.ts';
import type { IndexState } from './read-index-state.ts';

const codes = Object.keys(retrievalErrors) as RetrievalErrorCode[];
const ends: readonly AttemptEnd[] = ['done', 'claim_over', 'failed', 'released', 'abandoned', 'returned'];
const steps: readonly IngestStep[] = [
  ...(['claimed', 'read', 'fetched', 'guarded', 'chunked', 'embedded'] as const),
  ...(['written', 'live', 'settled', 'failed', 'released'] as const),
];

/** Files that are read again on change. */
type FollowedFile = 'models' | 'guard_target' | 'content_sources';
const followedFiles: readonly FollowedFile[] = ['models', 'guard_target', 'content_sources'];

export type RetrievalMetrics = RequestMetrics<RetrievalOperation, RetrievalErrorCode> & {
  readonly registry: Metrics;
  readonly auditExport: AuditExportMetrics;
  attemptEnded(end: AttemptEnd): void;
  stepCompleted(step: IngestStep): void;
  /** The result of reading the job table; undefined if the database did not answer. */
  backlog(found: Backlog | undefined): void;
  /** The state of the index in memory; undefined if the database did not answer. */
  indexHeld(state: IndexState | undefined): void;
  /** Counts a submit that was refused because a limit is reached. */
  limitReached(limit: SubmitLimit): void;
  dependencyFailed(dependency: FailedDependency): void;
  /** The documents that this process stores are judged by no policy. */
  unguarded(): void;
  /** Counts an error if its cause is an unavailable dependency. */
  requestFailed(error: unknown): void;
  /** Receives whether the newest change of a followed file was refused, so that its previous content stays in use. */
  fileRefused(file: FollowedFile, isRefused: boolean): void;
};

export function createRetrievalMetrics(): RetrievalMetrics {
  const registry = createMetrics({ service: 'retrieval' });
  const requests = createRequestMetrics(registry, {
    service: 'retrieval',
    operations: retrievalOperationNames,
    codes,
    mostIssuers: maxIssuers,
  });
  const attempts = registry.counter({
    name: 'portcullis_retrieval_ingest_attempts_total',
    help: 'Ended attempts to ingest a document, by how they ended.',
    labels: { end: ends },
  });
  const completed = registry.counter({
    name: 'portcullis_retrieval_ingest_steps_total',
    help: 'Completed steps of ingestion.',
    labels: { step: steps },
  });
  const waiting = createBacklogMetrics(registry, {
    service: 'retrieval',
    names: { open: 'portcullis_retrieval_ingest_open_jobs', oldest: 'portcullis_retrieval_ingest_oldest_job_seconds' },
    items: 'Jobs that are neither DONE nor FAILED',
    item: 'job that is neither DONE nor FAILED',
  });
  const dead = registry.gauge({
    name: 'portcullis_retrieval_ingest_dead_letters',
    help: 'Jobs that are not retried until they are replayed.',
    labels: {},
  });
  const reindexWaiting = registry.gauge({
    name: 'portcullis_retrieval_reindex_waiting_seconds',
    help: 'Longest time that the build of an index version has waited for a worker or for a dependency; 0 if none waits.',
    labels: {},
  });
  const failedReindexes = registry.gauge({
    name: 'portcullis_retrieval_reindex_failed_collections',
    help: 'Collections whose newest reindex has failed; their previous version answers.',
    labels: {},
  });
  const failing = registry.gauge({
    name: 'portcullis_retrieval_failing_check_providers',
    help: 'Rules of the policy of documents whose detector or classifier does not judge, so that jobs or reindexes wait.',
    labels: {},
  });
  const indexBytes = registry.gauge({
    name: 'portcullis_retrieval_index_bytes',
    help: 'Estimated bytes of the index in the memory of this replica; 0 with OpenSearch.',
    labels: {},
  });
  const indexVersions = registry.gauge({
    name: 'portcullis_retrieval_index_loaded_versions',
    help: 'Index versions of collections in the memory of this replica; 0 with OpenSearch.',
    labels: {},
  });
  const unapplied = registry.gauge({
    name: 'portcullis_retrieval_index_unapplied_changes',
    help: 'Committed changes that the index in memory has not applied, of the collection with the most; the next query applies them first.',
    labels: {},
  });
  const failures = registry.counter({
    name: 'portcullis_retrieval_dependency_failures_total',
    help: 'Requests and attempts to ingest a document that failed because a dependency was unavailable; relations is the relation store. For queue, hints to look that were not sent or received.',
    labels: { dependency: failedDependencies },
  });
  const limits = registry.counter({
    name: 'portcullis_retrieval_quota_refusals_total',
    help: 'Submits that were refused because a quota of the tenant is reached, or because the collection fills the index.',
    labels: { quota: submitLimits },
  });
  for (const quota of submitLimits) limits.add({ quota }, 0);
  const unguarded = registry.gauge({
    name: 'portcullis_retrieval_documents_unguarded',
    help: '1 if this process stores documents UNGUARDED, without a policy that judges their texts, else 0.',
    labels: {},
  });
  unguarded.set({}, 0);
  const refused = registry.gauge({
    name: 'portcullis_retrieval_file_refused',
    help: '1 while the newest version of the file is invalid and the previous one is used, else 0.',
    labels: { file: followedFiles },
  });
  return {
    registry,
    auditExport: createAuditExportMetrics(registry),
    ...requests,
    attemptEnded: (end) => attempts.add({ end }),
    stepCompleted: (step) => completed.add({ step }),
    backlog(found) {
      waiting(found);
      if (found === undefined) return;
      dead.set({}, found.deadLetters);
      reindexWaiting.set({}, found.reindexWaitingSeconds);
      failedReindexes.set({}, found.failedReindexes);
      failing.set({}, found.failingProviders);
    },
    indexHeld(state) {
      if (state === undefined) return;
      indexBytes.set({}, state.bytes);
      indexVersions.set({}, state.versions);
      unapplied.set({}, state.unappliedChanges);
    },
    limitReached: (quota) => limits.add({ quota }),
    dependencyFailed: (dependency) => failures.add({ dependency }),
    requestFailed(error) {
      const dependency = failedDependency(error);
      if (dependency !== undefined) failures.add({ dependency });
    },
    unguarded: () => unguarded.set({}, 1),
    fileRefused: (file, isRefused) => refused.set({ file }, isRefused ? 1 : 0),
  };
}
