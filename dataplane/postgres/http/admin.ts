import { Hono } from 'hono';
import type { PostgresMetrics } from '../metrics.ts';
import type { Readiness } from '../readiness.ts';

/** What tells an operator of the process how it is; served on an address of its own. */
export function createAdmin(metrics: PostgresMetrics, readiness: Readiness): Hono {
  const app = new Hono();
  app.get('/livez', (context) => context.text('ok\n'));
  app.get('/readyz', async (context) => {
    const { problems } = await readiness.look();
    return problems.length === 0 ? context.text('ok\n') : context.text(`${problems.join('\n')}\n`, 503);
  });
  app.get('/metrics', async (context) => {
    metrics.looked(await readiness.look());
    const { registry } = metrics;
    return context.body(await registry.exposition(), 200, { 'content-type': registry.contentType });
  });
  return app;
}
