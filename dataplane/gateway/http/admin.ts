import { Hono, type MiddlewareHandler } from 'hono';
import type { ProviderTest } from '#contracts/provider-test';
import { bearerOf } from '#kit/http/bearer';
import type { TokenFile } from '#kit/http/token-file';
import type { Metrics } from '#kit/metrics/metrics';
import type { ActivityLog } from '../activity/activity-log.ts';

type AdminParts = {
  readonly metrics: Metrics;
  readonly isReady: () => boolean;
  readonly activity: ActivityLog;
  /** Tests the provider of an alias; undefined without a route of the alias. */
  readonly testProvider: (alias: string) => Promise<ProviderTest | undefined>;
  /** The token of administrators; without it, decisions are not served. */
  readonly adminTokens: Pick<TokenFile, 'accepts'> | undefined;
};

/** Serves health, metrics and, to administrators, the decisions of the gateway, on a separate address. */
export function createGatewayAdmin({ metrics, isReady, activity, testProvider, adminTokens }: AdminParts): Hono {
  const app = new Hono();
  app.get('/livez', (context) => context.text('ok\n'));
  app.get('/readyz', (context) => (isReady() ? context.text('ok\n') : context.text('not ready\n', 503)));
  app.get('/metrics', async (context) =>
    context.body(await metrics.exposition(), 200, { 'content-type': metrics.contentType }),
  );
  if (adminTokens === undefined) return app;
  const guarded: MiddlewareHandler = async (context, next) => {
    const sent = context.req.header('authorization');
    const bearer = bearerOf(sent === undefined ? { ok: false, fault: 'missing' } : { ok: true, value: sent });
    if (bearer.ok && adminTokens.accepts(bearer.token)) return next();
    return context.text('The token of administrators is missing or wrong.\n', 401, { 'www-authenticate': 'Bearer' });
  };
  app.get('/activity', guarded, (context) =>
    context.json({ items: activity.newest() }, 200, { 'cache-control': 'no-store' }),
  );
  app.get('/decision-counts', guarded, (context) =>
    context.json({ items: activity.counts() }, 200, { 'cache-control': 'no-store' }),
  );
  app.get('/provider-test', guarded, async (context) => {
    const found = await testProvider(context.req.query('alias') ?? '');
    if (found === undefined) return context.text('There is no route of this alias.\n', 404);
    return context.json(found, 200, { 'cache-control': 'no-store' });
  });
  return app;
}
