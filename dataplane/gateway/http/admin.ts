import { Hono } from 'hono';
import type { Metrics } from '#kit/metrics/metrics';

/** Serves health and metrics of the gateway, on an address of their own. */
export function createGatewayAdmin(metrics: Metrics, isReady: () => boolean): Hono {
  const app = new Hono();
  app.get('/livez', (context) => context.text('ok\n'));
  app.get('/readyz', (context) => (isReady() ? context.text('ok\n') : context.text('not ready\n', 503)));
  app.get('/metrics', async (context) =>
    context.body(await metrics.exposition(), 200, { 'content-type': metrics.contentType }),
  );
  return app;
}
