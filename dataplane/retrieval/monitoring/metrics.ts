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

export type RetrievalMetrics = {
  readonly registry: Metrics;
  /** @param code of the error; `none` for a success */
  ended(operation: RetrievalOperation, code: RetrievalErrorCode | 'none', seconds: number): void;
  keysUnavailable(issuer: string): void;
  attemptEnded(end: AttemptEnd): void;
  stepCompleted(step: IngestStep): void;
  /** Open jobs, and the age of the oldest one in seconds, as the last look at the table found them. */
  backlog(open: number, oldestSeconds: number): void;
};

export function createRetrievalMetrics(): RetrievalMetrics {
  const registry = createMetrics({ service: 'retrieval' });
  const requests = registry.counter({
    name: 'portcullis_retrieval_requests_total',
    help: 'Completed requests by operation and error code.',
    labels: { operation: retrievalOperationNames, code: ['none', ...codes] },
  });
  const seconds = registry.histogram({
    name: 'portcullis_retrieval_request_seconds',
    help: 'Duration of requests until the answer was sent.',
    labels: { operation: retrievalOperationNames },
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  });
  const keys = registry.counter({
    name: 'portcullis_retrieval_issuer_keys_unavailable_total',
    help: 'Tokens that were not verified because the keys of their issuer could not be fetched.',
    labels: { issuer: { bounded: maxIssuers } },
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
    ended(operation, code, duration) {
      requests.add({ operation, code });
      seconds.observe({ operation }, duration);
    },
    keysUnavailable: (issuer) => keys.add({ issuer }),
    attemptEnded: (end) => attempts.add({ end }),
    stepCompleted: (step) => completed.add({ step }),
    backlog(count, age) {
      open.set({}, count);
      oldest.set({}, age);
    },
  };
}
