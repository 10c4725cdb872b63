import { type ConnectionErrorCode, connectionErrors } from '#contracts/connections';
import type { Metrics } from '#kit/metrics/metrics';

/** Maximum number of connections that have their own metric series; all further connections share one series. */
const maxConnections = 100;

export type ConnectionMetrics = {
  /** `connection` is empty unless the caller may use it. */
  ended(facts: {
    readonly connection: string;
    readonly code: ConnectionErrorCode | 'none';
    readonly seconds: number;
  }): void;
};

export function createConnectionMetrics(registry: Metrics): ConnectionMetrics {
  const connection = { bounded: maxConnections } as const;
  const calls = registry.counter({
    name: 'portcullis_gateway_connection_calls_total',
    help: 'Calls of connections that ended, by connection and the code of the error; none where the service answered.',
    labels: { connection, code: ['none', ...Object.keys(connectionErrors)] },
  });
  const seconds = registry.histogram({
    name: 'portcullis_gateway_connection_call_seconds',
    help: 'Duration of calls of connections, seconds.',
    labels: {},
    buckets: [0.005, 0.02, 0.05, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120],
  });
  return {
    ended(facts) {
      const name = facts.connection === '' ? 'none' : facts.connection;
      calls.add({ connection: name, code: facts.code });
      seconds.observe({}, facts.seconds);
    },
  };
}
