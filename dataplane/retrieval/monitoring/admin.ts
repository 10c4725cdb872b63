import { Hono } from 'hono';
import type { RetrievalMetrics } from './metrics.ts';

/** Liveness, readiness and metrics, on an address apart from that of the API. */
export function createRetrievalAdmin({ registry }: RetrievalMetrics, problems: () => Promise<readonly string[]>): Hono {
  const app = new Hono();
  app.get('/livez', (context) => context.text('ok\n'));
  app.get('/readyz', async (context) => {
    const found = await problems();
    return found.length === 0 ? context.text('ok\n') : context.text(`${found.join('\n')}\n`, 503);
  });
  app.get('/metrics', async (context) =>
    context.body(await registry.exposition(), 200, { 'content-type': registry.contentType }),
  );
  return app;
}
