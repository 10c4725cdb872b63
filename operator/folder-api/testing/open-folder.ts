import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openTokenFile } from '#kit/http/token-file';
import { createLogger } from '#kit/log/logger';
import { createMetrics } from '#kit/metrics/metrics';
import type { Clock } from '#kit/time/clock';
import { createClient, type KubeClient } from '#kube/client/client';
import { type FolderApi, startFolderApi } from '../http/start-folder-api.ts';

export const silentLogger = createLogger({ service: 'test', level: 'error', destination: { write: () => {} } });

/** A temporary data directory, removed at the end of the test. */
export type FolderApiData = AsyncDisposable & {
  readonly path: string;
  readonly resources: string;
  readonly apply: string;
  readonly token: string;
};

export async function makeDataDirectory(): Promise<FolderApiData> {
  const path = await mkdtemp(join(tmpdir(), 'portcullis-folder-'));
  const token = join(path, 'api.token');
  await writeFile(token, 'the-token\n');
  return {
    path,
    resources: join(path, 'resources'),
    apply: join(path, 'apply'),
    token,
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}

export type OpenFolder = AsyncDisposable & {
  readonly api: FolderApi;
  readonly client: KubeClient & AsyncDisposable;
};

/** Starts the server on a data directory, with a client of it. */
export async function openFolder(
  data: FolderApiData,
  options: { readonly watched?: boolean; readonly clock?: Clock } = {},
): Promise<OpenFolder> {
  const tokenFile = openTokenFile(data.token);
  const api = await startFolderApi({
    directory: data.resources,
    listen: { host: '127.0.0.1', port: 0 },
    tokenFile,
    namespace: 'default',
    logger: silentLogger,
    metrics: createMetrics({ service: 'test' }),
    ...(options.watched === true ? { watchedDirectory: data.apply } : {}),
    ...(options.clock === undefined ? {} : { clock: options.clock }),
  });
  const client = createClient({ url: api.url, tokenFile, namespace: 'default' });
  return {
    api,
    client,
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      await api[Symbol.asyncDispose]();
    },
  };
}
