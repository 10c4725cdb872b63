import { createRequestMetrics, type RequestMetrics } from '#api/request-metrics';
import { type RetrievalErrorCode, retrievalErrors } from '#contracts/retrieval-errors';
import { maxIssuers } from '#identity/issuers-file';
import { createMetrics, type Metrics } from '#kit/metrics/metrics';
import { type RetrievalOperation, retrievalOperationNames } from '../http/retrieval-table.ts';
import type { AttemptEnd } from '../ingest/worker/attempt-job.ts';
import type { IngestStep } from '../ingest/worker/ingest-ports.ts';

const codes = Object.keys(retrievalErrors) as RetrievalErrorCode[];
const ends: readonly AttemptEnd[] = ['done', 'claim_over', 'failed', 'released', 'abandoned', 'returned'];
const steps: readonly IngestStep[] = [
  ...(['claimed', 'read', 'fetched', 'guarded', 'chunked', 'embedded'] as const),
  ...(['written', 'live', 'settled', 'failed', 'released'] as const),
];

export type RetrievalMetrics = RequestMetrics<RetrievalOperation, RetrievalErrorCode> & {
  readonly registry: Metrics;
  attemptEnded(end: AttemptEnd): void;
  stepCompleted(step: IngestStep): void;
  /** Open jobs, and the age of the oldest one in seconds, as the last look at the table found them. */
  backlog(open: number, oldestSeconds: number): void;
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
  const open = registry.gauge({
    name: 'portcullis_retrieval_ingest_open_jobs',
    help: 'Jobs that are neither DONE nor FAILED.',
    labels: {},
  });
  const oldest = registry.gauge({
    name: 'portcullis_retrieval_ingest_oldest_job_seconds',
    help: 'Age of the oldest job that is neither DONE nor FAILED; 0 without one.',
    labels: {},
  });
  return {
    registry,
    ...requests,
    attemptEnded: (end) => attempts.add({ end }),
    stepCompleted: (step) => completed.add({ step }),
    backlog(count, age) {
      open.set({}, count);
      oldest.set({}, age);
    },
  };
}
