import { Hono } from 'hono';
import type { Metrics } from '#kit/metrics/metrics';

type AdminOptions = {
  readonly registry: Metrics;
  /** Why the process is not ready; empty if it is. */
  readonly problems: () => Promise<readonly string[]>;
  /** Called before each scrape, for metrics that are read on demand. */
  readonly beforeScrape?: () => void | Promise<void>;
};

/** Liveness, readiness and metrics of a service, on an address apart from that of its API. */
export function createAdminRoutes({ registry, problems, beforeScrape }: AdminOptions): Hono {
  const app = new Hono();
  app.get('/livez', (context) => context.text('ok\n'));
  app.get('/readyz', async (context) => {
    const found = await problems();
    return found.length === 0 ? context.text('ok\n') : context.text(`${found.join('\n')}\n`, 503);
  });
  app.get('/metrics', async (context) => {
    await beforeScrape?.();
    return context.body(await registry.exposition(), 200, { 'content-type': registry.contentType });
  });
  return app;
}
