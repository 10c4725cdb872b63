import { createTlsMetrics, type TlsMetrics } from '#kit/http/observe-tls';
import type { Metrics } from '#kit/metrics/metrics';

export type RequestMetrics<Operation extends string, Code extends string> = {
  /** @param code the error code; `none` for a success */
  ended(operation: Operation, code: Code | 'none', seconds: number): void;
  /** The keys of an issuer could not be fetched, so that its token was not verified. */
  keysUnavailable(issuer: string): void;
  readonly tls: TlsMetrics;
};

type RequestMetricsOptions<Operation extends string, Code extends string> = {
  /** Second part of the names of the metrics, such as `retrieval`. */
  readonly service: string;
  readonly operations: readonly Operation[];
  readonly codes: readonly Code[];
  /** Maximum number of trusted issuers. */
  readonly mostIssuers: number;
  /** Upper bounds of durations above 10 seconds, ascending. */
  readonly longSeconds?: readonly number[];
};

/** Declares the metrics that every API has: completed requests, their duration, and keys that could not be fetched. */
export function createRequestMetrics<Operation extends string, Code extends string>(
  registry: Metrics,
  { service, operations, codes, mostIssuers, longSeconds = [] }: RequestMetricsOptions<Operation, Code>,
): RequestMetrics<Operation, Code> {
  const requests = registry.counter({
    name: `portcullis_${service}_requests_total`,
    help: 'Completed requests by operation and error code.',
    labels: { operation: operations, code: ['none', ...codes] },
  });
  const duration = registry.histogram({
    name: `portcullis_${service}_request_seconds`,
    help: 'Duration of requests until the answer was sent.',
    labels: { operation: operations },
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, ...longSeconds],
  });
  const keys = registry.counter({
    name: `portcullis_${service}_issuer_keys_unavailable_total`,
    help: 'Tokens that were not verified because the keys of their issuer could not be fetched.',
    labels: { issuer: { bounded: mostIssuers } },
  });
  return {
    ended(operation, code, seconds) {
      requests.add({ operation, code });
      duration.observe({ operation }, seconds);
    },
    keysUnavailable: (issuer) => keys.add({ issuer }),
    tls: createTlsMetrics(registry),
  };
}
