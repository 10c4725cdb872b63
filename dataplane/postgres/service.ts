import { listen } from '#kit/http/listen';
import type { PostgresConfig } from './config.ts';
import { createAdmin } from './http/admin.ts';
import { createPostgresMetrics } from './metrics.ts';
import { openDatabase } from './open-database.ts';
import { createReadiness } from './readiness.ts';

export type PostgresService = AsyncDisposable & {
  /** For PORTCULLIS_DATABASE_URL: without a password, which stands in a file. */
  readonly url: string;
  /** Origin of /livez, /readyz and /metrics; undefined where none was asked for. */
  readonly adminUrl: string | undefined;
};

const adminServer = { headersTimeoutMs: 10_000, keepAliveTimeoutMs: 65_000, maxHeaderBytes: 16_384 } as const;

/**
 * The embedded PostgreSQL: makes its folder at the first start, serves one database, and ends this process where the
 * server ends by itself. What tells how it is answers from the beginning: a recovery may take long.
 * @throws ServerError
 */
export async function createPostgresService(config: PostgresConfig, signal: AbortSignal): Promise<PostgresService> {
  await using parts = new AsyncDisposableStack();
  const readiness = createReadiness();
  const { adminListen } = config;
  const app = createAdmin(createPostgresMetrics(), readiness);
  const admin =
    adminListen === undefined
      ? undefined
      : parts.use(await listen({ ...adminServer, ...adminListen, fetch: app.fetch }));
  const database = parts.use(await openDatabase(config, signal));
  readiness.opened(database.access);
  parts.defer(readiness.withdraw);
  const owned = parts.move();
  return { url: database.url, adminUrl: admin?.url, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
