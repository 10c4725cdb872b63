import { createMetrics, type Metrics } from '#kit/metrics/metrics';
import type { ServerProbe } from './readiness.ts';

type PostgresMetrics = {
  readonly registry: Metrics;
  /** Records a probe of the server. After a probe without figures, the earlier figures stay. */
  probed(probe: ServerProbe): void;
  /** Records the bytes that the database can still write; undefined leaves the earlier value. */
  measured(availableBytes: number | undefined): void;
};

export function createPostgresMetrics(): PostgresMetrics {
  const registry = createMetrics({ service: 'postgres' });
  const ready = registry.gauge({
    name: 'portcullis_postgres_ready',
    help: '1 if the PostgreSQL server answered a query over a new connection at this scrape, else 0; the other values are then from an earlier scrape.',
    labels: {},
  });
  const connections = registry.gauge({
    name: 'portcullis_postgres_connections',
    help: 'Client connections to PostgreSQL by state.',
    labels: { state: ['active', 'idle', 'idle_in_transaction'] },
  });
  const limit = registry.gauge({
    name: 'portcullis_postgres_connections_max',
    help: 'Maximum number of connections to the PostgreSQL server.',
    labels: {},
  });
  const bytes = registry.gauge({
    name: 'portcullis_postgres_database_bytes',
    help: 'Size of the database on disk without the write-ahead log.',
    labels: {},
  });
  const available = registry.gauge({
    name: 'portcullis_postgres_storage_available_bytes',
    help: 'Bytes that can still be written to the file system of the database.',
    labels: {},
  });
  const oldest = registry.gauge({
    name: 'portcullis_postgres_oldest_transaction_seconds',
    help: 'Age of the oldest open transaction of a client, in seconds; 0 when no transaction is open.',
    labels: {},
  });
  return {
    registry,
    probed({ problems, figures }) {
      ready.set({}, problems.length === 0 ? 1 : 0);
      if (figures === undefined) return;
      connections.set({ state: 'active' }, figures.active);
      connections.set({ state: 'idle' }, figures.idle);
      connections.set({ state: 'idle_in_transaction' }, figures.idleInTransaction);
      limit.set({}, figures.connectionsMax);
      bytes.set({}, figures.databaseBytes);
      oldest.set({}, figures.oldestTransactionSeconds);
    },
    measured(availableBytes) {
      if (availableBytes !== undefined) available.set({}, availableBytes);
    },
  };
}
