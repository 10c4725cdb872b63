import { Hono } from 'hono';
import type { ManagementMetrics } from './metrics.ts';
import type { ManagementReadiness } from './readiness.ts';

/** Liveness, readiness and metrics, on an address apart from that of the API. */
export function createManagementAdmin({ registry }: ManagementMetrics, readiness: ManagementReadiness): Hono {
  const app = new Hono();
  app.get('/livez', (context) => context.text('ok\n'));
  app.get('/readyz', async (context) => {
    const problems = await readiness.problems();
    return problems.length === 0 ? context.text('ok\n') : context.text(`${problems.join('\n')}\n`, 503);
  });
  app.get('/metrics', async (context) => {
    readiness.refresh();
    return context.body(await registry.exposition(), 200, { 'content-type': registry.contentType });
  });
  return app;
}
