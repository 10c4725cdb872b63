import { Hono } from 'hono';
import type { Metrics } from '#kit/metrics/metrics';
import { type Listening, listen } from './listen.ts';

type AdminOptions = {
  readonly listen: { readonly host: string; readonly port: number };
  readonly registry: Metrics;
  /** The reasons why the process is not ready; empty if it is ready. */
  readonly problems: () => Promise<readonly string[]>;
  /** Called before each scrape, for metrics that are read on demand. */
  readonly beforeScrape?: () => void | Promise<void>;
};

/**
 * Serves liveness, readiness and metrics of a service, on a different address than its API.
 * @throws ListenError when the address is not available
 */
export function serveProbes(options: AdminOptions): Promise<Listening> {
  return listen({
    ...options.listen,
    fetch: adminRoutes(options).fetch,
    headersTimeoutMs: 10_000,
    keepAliveTimeoutMs: 65_000,
    maxHeaderBytes: 32_768,
  });
}

function adminRoutes({ registry, problems, beforeScrape }: AdminOptions): Hono {
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
