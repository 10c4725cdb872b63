import { serveProbes } from '#kit/http/serve-probes';
import type { PostgresConfig } from './config.ts';
import { availableBytes } from './monitoring/available-bytes.ts';
import { createPostgresMetrics } from './monitoring/metrics.ts';
import { createDatabaseReadiness } from './monitoring/readiness.ts';
import { openDatabase } from './open-database.ts';

type PostgresService = AsyncDisposable & {
  /** The value of PORTCULLIS_DATABASE_URL, without the password. */
  readonly url: string;
  /** Origin of /livez, /readyz and /metrics; undefined without PORTCULLIS_ADMIN_LISTEN. */
  readonly adminUrl: string | undefined;
};

/**
 * The embedded PostgreSQL: creates its folder at the first start, serves one database, and ends this process when the
 * server exits. The admin address answers from the beginning, because a recovery may take a long time.
 * @throws ServerError
 */
export async function createPostgresService(config: PostgresConfig, signal: AbortSignal): Promise<PostgresService> {
  await using parts = new AsyncDisposableStack();
  const readiness = createDatabaseReadiness();
  const { adminListen, folder } = config;
  const metrics = createPostgresMetrics();
  const probes = {
    registry: metrics.registry,
    problems: async () => (await readiness.probe()).problems,
    async beforeScrape() {
      metrics.probed(await readiness.probe());
      metrics.measured(await availableBytes(folder));
    },
  };
  const admin =
    adminListen === undefined ? undefined : parts.use(await serveProbes({ ...probes, listen: adminListen }));
  const database = parts.use(await openDatabase(config, signal));
  readiness.opened(database.access);
  parts.defer(readiness.withdraw);
  const owned = parts.move();
  return { url: database.url, adminUrl: admin?.url, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
