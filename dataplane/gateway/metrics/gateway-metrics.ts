import { type ProviderCause, providerCauses } from '#contracts/provider-causes';
import { createTlsMetrics, type TlsMetrics } from '#kit/http/observe-tls';
import { createMetrics, type Metrics } from '#kit/metrics/metrics';
import { type Clock, systemClock } from '#kit/time/clock';
import { type ClientUsage, createClientUsage } from './client-usage.ts';
import { type OutcomeName, outcomeNames } from './outcomes.ts';

const operations = ['chat', 'responses', 'embeddings', 'rerank', 'models'] as const;
export type GatewayOperationName = (typeof operations)[number];

/** Maximum number of aliases that have their own metric series; all further aliases share one series. */
const maxAliases = 200;

export type GatewayMetrics = {
  readonly registry: Metrics;
  readonly tls: TlsMetrics;
  readonly clients: ClientUsage;
  begun(operation: GatewayOperationName): void;
  /**
   * Counts an ended request. `alias` comes from the route and is empty if no route was found, so that text of a client
   * never becomes a label.
   */
  ended(
    operation: GatewayOperationName,
    facts: {
      readonly alias: string;
      readonly outcome: OutcomeName;
      readonly stage: 'none' | 'request' | 'response';
      readonly streamed: boolean;
      readonly seconds: number;
    },
  ): void;
  providerFailed(cause: ProviderCause): void;
  window(outcome: 'pass' | 'mask' | 'deny' | 'failed'): void;
};

/** @param clock gives the day to which the tokens of a client are counted */
export function createGatewayMetrics(clock: Pick<Clock, 'date'> = systemClock): GatewayMetrics {
  const registry = createMetrics({ service: 'gateway' });
  const requests = registry.counter({
    name: 'portcullis_gateway_requests_total',
    help: 'Requests that ended, by alias of their route, outcome and the stage that decided.',
    labels: {
      operation: operations,
      alias: { bounded: maxAliases },
      outcome: outcomeNames,
      stage: ['none', 'request', 'response'],
    },
  });
  const seconds = registry.histogram({
    name: 'portcullis_gateway_request_seconds',
    help: 'Duration of requests from the first byte received to the end of the answer, seconds.',
    labels: { operation: operations },
    buckets: [0.005, 0.02, 0.05, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 900],
  });
  const inFlight = registry.gauge({
    name: 'portcullis_gateway_requests_in_flight',
    help: 'Requests in flight.',
    labels: { operation: operations },
  });
  const windows = registry.counter({
    name: 'portcullis_gateway_stream_windows_total',
    help: 'Windows of streamed answers that were judged.',
    labels: { outcome: ['pass', 'mask', 'deny', 'failed'] },
  });
  const failures = registry.counter({
    name: 'portcullis_gateway_provider_failures_total',
    help: 'Calls of model providers that failed because of the connection, the set-up or a rate limit, by cause.',
    labels: { cause: providerCauses },
  });
  const stops = registry.counter({
    name: 'portcullis_gateway_stream_stops_total',
    help: 'Streams that ended with an error frame or were aborted.',
    labels: { outcome: outcomeNames },
  });
  const flying = seriesOf((operation) => inFlight.series({ operation }));
  const lasting = seriesOf((operation) => seconds.series({ operation }));
  return {
    registry,
    tls: createTlsMetrics(registry),
    clients: createClientUsage(registry, () => clock.date().getTime()),
    begun: (operation) => flying[operation].add(1),
    ended(operation, { alias, outcome, stage, streamed, seconds: duration }) {
      flying[operation].add(-1);
      requests.add({ operation, alias: alias === '' ? 'none' : alias, outcome, stage });
      lasting[operation].observe(duration);
      if (streamed && outcome !== 'passed' && outcome !== 'masked') stops.add({ outcome });
    },
    providerFailed: (cause) => failures.add({ cause }),
    window: (outcome) => windows.add({ outcome }),
  };
}

function seriesOf<S>(open: (operation: GatewayOperationName) => S): Readonly<Record<GatewayOperationName, S>> {
  return Object.fromEntries(operations.map((operation) => [operation, open(operation)])) as Record<
    GatewayOperationName,
    S
  >;
}
