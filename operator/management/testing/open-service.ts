import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '#kit/time/clock';
import type { KubeClient } from '#kube/client/client';
import { openPostgresRelations } from '#relations/adapters/postgres/postgres-relations';
import { openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import { makeDataDirectory, openFolder, silentLogger } from '../../folder-api/testing/open-folder.ts';
import { readConfig } from '../config.ts';
import { createManagementService, type ManagementOverrides, type ManagementService } from '../service.ts';

/** A clock that a test advances; it counts its reads. */
type ManualClock = Clock & {
  advance(ms: number): void;
  asked(): number;
};

function createManualClock(start = new Date()): ManualClock {
  let passedMs = 0;
  let asked = 0;
  return {
    now() {
      asked += 1;
      return passedMs;
    },
    date: () => new Date(start.getTime() + passedMs),
    advance(ms) {
      passedMs += ms;
    },
    asked: () => asked,
  };
}

/**
 * One replica in this process, with the operator's folder and PostgreSQL but without an operator. Every request is
 * authorized.
 */
export type OpenService = AsyncDisposable & {
  readonly client: KubeClient;
  readonly database: TestDatabase;
  readonly service: ManagementService;
  readonly clock: ManualClock;
  /** Starts another replica over the same folder and database. */
  startAnother(): Promise<ManagementService>;
};

/** The subject of every request. */
export const subject = 'user:test|administrator';

export async function openService(overrides: ManagementOverrides = {}): Promise<OpenService> {
  await using parts = new AsyncDisposableStack();
  const data = parts.use(await makeDataDirectory());
  const { api, client } = parts.use(await openFolder(data));
  const database = parts.use(await openTestDatabase());
  const issuers = join(data.path, 'issuers.yaml');
  await writeFile(issuers, '');
  const { config, secrets } = readConfig({
    PORTCULLIS_API_URL: api.url,
    PORTCULLIS_API_TOKEN_FILE: data.token,
    PORTCULLIS_DATABASE_URL: database.url,
    PORTCULLIS_DATABASE_PASSWORD_FILE: database.passwordFile,
    PORTCULLIS_ISSUERS_FILE: issuers,
    PORTCULLIS_ENVIRONMENT_DIR: data.path,
    PORTCULLIS_RUN_DIR: data.path,
  });
  const clock = createManualClock();
  const author = { kind: 'token' as const, issuer: 'test', subject: 'administrator', actors: [] };
  const caller = { subject, author, groups: [] };
  const authorizer = { authorize: () => Promise.resolve({ kind: 'caller', caller } as const) };
  const relations = parts.use(await openPostgresRelations(database.database));
  const access = {
    authorizer,
    rights: { has: () => Promise.resolve(true), objects: () => Promise.resolve([]) },
    relations,
  };
  const start = () => createManagementService(config, secrets, { access, clock, logger: silentLogger, ...overrides });
  const service = parts.use(await start());
  const owned = parts.move();
  return {
    client,
    database,
    service,
    clock,
    startAnother: start,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
