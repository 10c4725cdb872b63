import { Hono } from 'hono';
import type { PostgresMetrics } from './metrics.ts';
import type { DatabaseReadiness } from './readiness.ts';

/** Serves liveness, readiness and metrics, on another address than PostgreSQL. */
export function createDatabaseAdmin(metrics: PostgresMetrics, readiness: DatabaseReadiness): Hono {
  const app = new Hono();
  app.get('/livez', (context) => context.text('ok\n'));
  app.get('/readyz', async (context) => {
    const { problems } = await readiness.probe();
    return problems.length === 0 ? context.text('ok\n') : context.text(`${problems.join('\n')}\n`, 503);
  });
  app.get('/metrics', async (context) => {
    metrics.probed(await readiness.probe());
    const { registry } = metrics;
    return context.body(await registry.exposition(), 200, { 'content-type': registry.contentType });
  });
  return app;
}
