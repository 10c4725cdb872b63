import { createMetrics, type Metrics } from '#kit/metrics/metrics';
import type { Look } from './readiness.ts';

export type PostgresMetrics = {
  readonly registry: Metrics;
  /** What one look at the server found; where it found nothing, the figures stay those of the last one that did. */
  looked(look: Look): void;
};

export function createPostgresMetrics(): PostgresMetrics {
  const registry = createMetrics({ service: 'postgres' });
  const ready = registry.gauge({
    name: 'portcullis_postgres_ready',
    help: '1 where the server answered a query of a new connection at this scrape, else 0; the rest is then older.',
    labels: {},
  });
  const connections = registry.gauge({
    name: 'portcullis_postgres_connections',
    help: 'Connections of clients, by what they do.',
    labels: { state: ['active', 'idle', 'idle_in_transaction'] },
  });
  const limit = registry.gauge({
    name: 'portcullis_postgres_connections_max',
    help: 'Connections that the server takes at the same time.',
    labels: {},
  });
  const bytes = registry.gauge({
    name: 'portcullis_postgres_database_bytes',
    help: 'Size of the database on disk, without its log of changes.',
    labels: {},
  });
  const oldest = registry.gauge({
    name: 'portcullis_postgres_oldest_transaction_seconds',
    help: 'Age of the oldest transaction of a client; 0 where there is none.',
    labels: {},
  });
  return {
    registry,
    looked({ problems, figures }) {
      ready.set({}, problems.length === 0 ? 1 : 0);
      if (figures === undefined) return;
      connections.set({ state: 'active' }, figures.active);
      connections.set({ state: 'idle' }, figures.idle);
      connections.set({ state: 'idle_in_transaction' }, figures.idleInTransaction);
      limit.set({}, figures.connectionsMax);
      bytes.set({}, figures.databaseBytes);
      oldest.set({}, figures.oldestTransactionSeconds);
    },
  };
}
