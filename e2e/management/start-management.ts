import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { v7 as uuid } from 'uuid';
import type { OperationResource } from '#contracts/management';
import { mintToken } from '#identity/mint-token';
import { ensureSigningKeys, publicKeySet, readSigningKeys } from '#identity/signing-keys';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { type DatabaseServer, openSharedServer } from '#sql/testing/shared-server';
import type { TestDatabase } from '#sql/testing/test-server';
import { type RunningProcess, startProcess } from '../support/start-process.ts';
import { type CallOptions, callUrl, type HttpResponse, untilFinal } from './call-api.ts';

export const issuer = 'http://issuer.test';
export const audience = 'control-plane';
const administrator = 'root-admin';

/** Replicas of the management API as processes, with a separate database and issuer. */
export type RunningManagement = AsyncDisposable & {
  readonly replicas: readonly RunningProcess[];
  readonly database: TestDatabase;
  readonly keyFile: string;
  /** A valid token of a subject, by default the administrator. */
  mint(options?: MintRequest): Promise<string>;
  /** Calls a replica, by default the first, as the administrator unless `token` is given. */
  call(path: string, options?: CallOptions & { readonly replica?: number }): Promise<HttpResponse>;
  /** Sends a command with a new key, unless `headers` contains a key. */
  command(method: 'POST' | 'PUT', path: string, body: unknown, options?: CommandOptions): Promise<HttpResponse>;
  /** Waits until the operation of a 202 response ends. */
  ended(accepted: HttpResponse): Promise<OperationResource>;
  /** Waits for the end of an operation. */
  endOf(operationId: string): Promise<OperationResource>;
  /** Starts another replica, or replaces an ended replica; `change` adds to its environment. */
  startReplica(at?: number, change?: Readonly<Record<string, string>>): Promise<RunningProcess>;
};

type MintRequest = {
  readonly subject?: string;
  readonly audience?: string;
  readonly ttlSeconds?: number;
  readonly actors?: readonly { readonly issuer: string; readonly subject: string }[];
  readonly groups?: readonly string[];
};

export type CommandOptions = {
  readonly key?: string;
  readonly etag?: string | undefined;
  readonly replica?: number;
  readonly headers?: CallOptions['headers'];
  readonly token?: string | null;
};

export type ManagementProcessOptions = {
  readonly apiUrl: string;
  readonly tokenFile: string;
  /** Certificate authorities of the resource server. */
  readonly caFile?: string;
  readonly namespace?: string;
  readonly environmentDirectory: string;
  /** The folder of process files; when absent gateway replicas are pods. */
  readonly runDirectory?: string;
  readonly replicas?: number;
  readonly environment?: Readonly<Record<string, string>>;
  /** Absent: the server that tests share. */
  readonly databaseServer?: DatabaseServer;
};

/** Settings of the API for the operator of a standalone platform with this data folder. */
export function besidePlatform(data: string, apiUrl: string): ManagementProcessOptions {
  return {
    apiUrl,
    tokenFile: join(data, 'tokens/api.token'),
    environmentDirectory: data,
    runDirectory: join(data, 'run'),
  };
}

/** A new idempotency key. */
export function newKey(): string {
  return `key-${uuid()}`;
}

export async function startManagementReplicas(options: ManagementProcessOptions): Promise<RunningManagement> {
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(temporaryFolder()).path;
  const server = options.databaseServer ?? parts.use(await openSharedServer());
  const database = parts.use(await server.createDatabase());
  const keyFile = join(folder, 'issuer.keys');
  const environment = { ...(await settingsOf(options, { folder, keyFile, database })), ...options.environment };
  const replicas: RunningProcess[] = [];
  parts.defer(async () => {
    await Promise.all(replicas.map((replica) => replica[Symbol.asyncDispose]()));
  });
  const start = (change: Readonly<Record<string, string>> = {}) =>
    startProcess({
      file: 'operator/management/main.ts',
      environment: { ...environment, ...change },
    });
  for (let count = 0; count < (options.replicas ?? 1); count++) replicas.push(await start());
  const mint: RunningManagement['mint'] = (asked = {}) =>
    mintToken({ keyFile, issuer, subject: administrator, audience, ttlSeconds: 3_600, ...asked });
  const token = await mint();
  const call: RunningManagement['call'] = (path, { replica = 0, ...rest } = {}) =>
    callUrl(`${replicas[replica]?.url}${path}`, { ...rest, token: rest.token === undefined ? token : rest.token });
  const owned = parts.move();
  return {
    replicas,
    database,
    keyFile,
    mint,
    call,
    command(method, path, body, { key = newKey(), etag, headers = {}, ...rest } = {}) {
      const own = { 'idempotency-key': key, ...(etag === undefined ? {} : { 'if-match': etag }), ...headers };
      return call(path, { ...rest, method, body, headers: own });
    },
    ended(accepted) {
      if (accepted.status !== 202) throw new Error(`not accepted: ${accepted.status} ${accepted.text}`);
      return untilFinal(call, accepted.json.operationId);
    },
    endOf: (operationId) => untilFinal(call, operationId),
    async startReplica(at = replicas.length, change = {}) {
      const replica = await start(change);
      replicas[at] = replica;
      return replica;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function settingsOf(
  options: ManagementProcessOptions,
  own: { readonly folder: string; readonly keyFile: string; readonly database: TestDatabase },
): Promise<Record<string, string>> {
  const { folder, keyFile, database } = own;
  mkdirSync(folder, { recursive: true });
  await ensureSigningKeys(keyFile);
  writeFileSync(join(folder, 'jwks.json'), JSON.stringify(publicKeySet(await readSigningKeys(keyFile))));
  const issuersFile = join(folder, 'issuers.yaml');
  writeFileSync(
    issuersFile,
    `issuers:\n  - { issuer: "${issuer}", audience: ${audience}, jwksFile: jwks.json, groupsClaim: groups }\n`,
  );
  return {
    PORTCULLIS_API_URL: options.apiUrl,
    PORTCULLIS_API_TOKEN_FILE: options.tokenFile,
    ...(options.caFile === undefined ? {} : { PORTCULLIS_API_CA_FILE: options.caFile }),
    ...(options.namespace === undefined ? {} : { PORTCULLIS_NAMESPACE: options.namespace }),
    PORTCULLIS_DATABASE_URL: database.url,
    PORTCULLIS_DATABASE_PASSWORD_FILE: database.passwordFile,
    PORTCULLIS_ISSUERS_FILE: issuersFile,
    // One subject sends all requests of a test.
    PORTCULLIS_REQUESTS_PER_MINUTE: '1000000',
    PORTCULLIS_ADMINISTRATORS: `${issuer}|${administrator}`,
    PORTCULLIS_ENVIRONMENT_DIR: options.environmentDirectory,
    ...(options.runDirectory === undefined ? {} : { PORTCULLIS_RUN_DIR: options.runDirectory }),
  };
}
