import { type ManagementErrorCode, managementErrors } from '#contracts/management-errors';
import { createMetrics, type Metrics } from '#kit/metrics/metrics';
import { maxIssuers } from './access/issuers-file.ts';

export const operationNames = [
  'listPolicies',
  'createPolicy',
  'getPolicy',
  'replacePolicy',
  'listRevisions',
  'getRevision',
  'listProviders',
  'getBinding',
  'replaceBinding',
  'getOperation',
] as const;
export type OperationName = (typeof operationNames)[number];

const codes = Object.keys(managementErrors) as ManagementErrorCode[];

export type ManagementMetrics = {
  readonly registry: Metrics;
  /** @param code of the refusal; `none` where the request was answered */
  ended(operation: OperationName, code: ManagementErrorCode | 'none', seconds: number): void;
  /** A token could not be judged, for the keys of its issuer cannot be had. */
  keysUnavailable(issuer: string): void;
  /** How long the watches have not heard of the server, seconds. */
  watchSilence(seconds: number): void;
  /** Whether the database answered when it was last asked. */
  databaseAnswers(answers: boolean): void;
};

export function createManagementMetrics(): ManagementMetrics {
  const registry = createMetrics({ service: 'management' });
  const requests = registry.counter({
    name: 'portcullis_management_requests_total',
    help: 'Requests that ended, by operation and error code.',
    labels: { operation: operationNames, code: ['none', ...codes] },
  });
  const seconds = registry.histogram({
    name: 'portcullis_management_request_seconds',
    help: 'Duration of requests from the first byte to the answer.',
    labels: { operation: operationNames },
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
  });
  const silence = registry.gauge({
    name: 'portcullis_management_watch_silence_seconds',
    help: 'The longest time for which a watch of resources has not heard of its server.',
    labels: {},
  });
  const database = registry.gauge({
    name: 'portcullis_management_database_answers',
    help: '1 where the database answered when this replica was last asked whether it is ready, else 0.',
    labels: {},
  });
  database.set({}, 1);
  const keys = registry.counter({
    name: 'portcullis_management_issuer_keys_unavailable_total',
    help: 'Tokens that could not be judged because the keys of their issuer could not be had.',
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
