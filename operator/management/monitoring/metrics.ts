import { type ManagementErrorCode, managementErrors } from '#contracts/management-errors';
import { maxIssuers } from '#identity/issuers-file';
import { createMetrics, type Metrics } from '#kit/metrics/metrics';
import { type ServedOperation, servedOperationNames } from '../http/served-table.ts';

const codes = Object.keys(managementErrors) as ManagementErrorCode[];

export type ManagementMetrics = {
  readonly registry: Metrics;
  /** @param code of the error; `none` for a success */
  ended(operation: ServedOperation, code: ManagementErrorCode | 'none', seconds: number): void;
  /** The keys of an issuer could not be fetched, so that its token was not verified. */
  keysUnavailable(issuer: string): void;
  /** Time since the least recent contact of a watch with its server, seconds. */
  watchSilence(seconds: number): void;
  /** Whether the database answered the last readiness check. */
  databaseAnswers(answers: boolean): void;
};

export function createManagementMetrics(): ManagementMetrics {
  const registry = createMetrics({ service: 'management' });
  const requests = registry.counter({
    name: 'portcullis_management_requests_total',
    help: 'Completed requests by operation and error code.',
    labels: { operation: servedOperationNames, code: ['none', ...codes] },
  });
  const seconds = registry.histogram({
    name: 'portcullis_management_request_seconds',
    help: 'Duration of requests until the answer was sent.',
    labels: { operation: servedOperationNames },
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
  });
  const silence = registry.gauge({
    name: 'portcullis_management_watch_silence_seconds',
    help: 'Time since the least recent contact of a resource watch with its server.',
    labels: {},
  });
  const database = registry.gauge({
    name: 'portcullis_management_database_answers',
    help: '1 if the database answered the last readiness check of this replica, else 0.',
    labels: {},
  });
  database.set({}, 1);
  const keys = registry.counter({
    name: 'portcullis_management_issuer_keys_unavailable_total',
    help: 'Tokens that were not verified because the keys of their issuer could not be fetched.',
    labels: { issuer: { bounded: maxIssuers } },
  });
  return {
    registry,
    ended(operation, code, duration) {
      requests.add({ operation, code });
      seconds.observe({ operation }, duration);
    },
    keysUnavailable: (issuer) => keys.add({ issuer }),
    watchSilence: (value) => silence.set({}, value),
    databaseAnswers: (answers) => database.set({}, answers ? 1 : 0),
  };
}
