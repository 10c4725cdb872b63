import { listen } from '#kit/http/listen';
import { observeTls } from '#kit/http/observe-tls';
import { serveProbes } from '#kit/http/serve-probes';
import { createLogger, type Logger } from '#kit/log/logger';
import { consoleApp } from './http/app.ts';
import { callbackPath } from './http/sign-in-routes.ts';
import { createConsoleMetrics } from './monitoring/metrics.ts';
import { createCookies } from './sessions/cookies.ts';
import { createOpenIdClient } from './sessions/open-id-client.ts';
import type { ConsoleConfig } from './setup/console-config.ts';

type ConsoleService = AsyncDisposable & {
  /** Origin in browsers. */
  readonly url: string;
  /** Origin of /livez, /readyz and /metrics. */
  readonly adminUrl: string;
};

/**
 * How long requests in flight may take during a shutdown, milliseconds; streams of pages end when the shutdown begins.
 */
const drainMs = 3_000;

/**
 * Composes one replica, which holds no data: sessions are in the cookies of browsers. The replica is ready as soon as
 * it listens, because each page names a service that does not answer.
 * @throws ListenError, TlsPairError
 */
export async function createConsoleService(
  config: ConsoleConfig,
  cookieKey: Uint8Array,
  logger: Logger = createLogger({ service: 'console', level: config.logLevel }),
): Promise<ConsoleService> {
  await using parts = new AsyncDisposableStack();
  const metrics = createConsoleMetrics();
  const stopping = new AbortController();
  let app: ReturnType<typeof consoleApp> | undefined;
  const server = parts.use(
    await listen({
      ...config.listen,
      tls: observeTls(config.listen.tls, { logger, metrics: metrics.tls }),
      fetch: (request, env) => app?.fetch(request, env) ?? new Response('starting\n', { status: 503 }),
      onContinue: 'at_once',
      headersTimeoutMs: 10_000,
      keepAliveTimeoutMs: 65_000,
      maxHeaderBytes: 65_536,
    }),
  );
  const origin = config.origin ?? server.url;
  const cookies = createCookies(cookieKey, origin);
  const client = createOpenIdClient(config.oidc, `${origin}${callbackPath}`);
  app = consoleApp({ config, origin, cookies, client, logger, metrics, stopping: stopping.signal });
  const admin = parts.use(
    await serveProbes({ listen: config.adminListen, registry: metrics.registry, problems: async () => [] }),
  );
  parts.defer(() => server.drain({ graceMs: drainMs }));
  parts.defer(() => stopping.abort());
  logger.info('listening', { url: origin, admin: admin.url });
  const owned = parts.move();
  return { url: origin, adminUrl: admin.url, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
