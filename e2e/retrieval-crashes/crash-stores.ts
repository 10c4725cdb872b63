import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { readEnvironment } from '#kit/env/read-environment';
import type { ObjectStore } from '#objects/ports';
import type { HintQueue } from '#queue/ports';
import type { Database } from '#sql/connect';
import { testProfile } from '../../dataplane/retrieval/ingest/testing/scripted-models.ts';
import { type OpenedIndex, openIndex, openObjects, openQueue } from '../../dataplane/retrieval/open-stores.ts';
import { storeSettings, storesOf } from '../../dataplane/retrieval/stores-config.ts';
import { startMinio } from '../retrieval/minio-server.ts';
import { startNats } from '../retrieval/nats-server.ts';
import { startOpenSearch } from '../retrieval/opensearch-server.ts';

/** The stores of a crash test: its notifications, its staged documents and its search index. */
export type StoreChoice = {
  /** `servers` for NATS and S3, `own` for PostgreSQL and a folder. */
  readonly stores: 'own' | 'servers';
  readonly search: 'embedded' | 'opensearch';
};

type CrashStores = { readonly objects: ObjectStore; readonly queue: HintQueue; readonly search: OpenedIndex };

/** Starts the servers of a choice. Returns the settings of the stores as environment variables of the service. */
export async function startCrashStores(
  { stores, search }: StoreChoice,
  folder: string,
  parts: AsyncDisposableStack,
): Promise<Readonly<Record<string, string>>> {
  const folderOf = (name: string): string => {
    mkdirSync(join(folder, name));
    return join(folder, name);
  };
  const environment: Record<string, string> = {};
  if (stores === 'servers') {
    const nats = parts.use(await startNats({ folder: folderOf('nats') }));
    const minio = parts.use(await startMinio(folderOf('minio')));
    const { endpoint, credentials } = minio.options;
    environment['PORTCULLIS_NATS_URL'] = nats.url;
    environment['PORTCULLIS_S3_URL'] = endpoint.href;
    environment['PORTCULLIS_S3_BUCKET'] = await minio.createBucket();
    environment['PORTCULLIS_S3_ACCESS_KEY_FILE'] = credentials.accessKeyFile;
    environment['PORTCULLIS_S3_SECRET_KEY_FILE'] = credentials.secretKeyFile;
  } else environment['PORTCULLIS_OBJECTS_DIR'] = folderOf('objects');
  if (search === 'opensearch') {
    const server = parts.use(await startOpenSearch());
    environment['PORTCULLIS_OPENSEARCH_URL'] = server.url.href;
  }
  return environment;
}

/** Opens the stores as the service does. */
export async function openCrashStores(
  database: Database,
  environment: NodeJS.ProcessEnv,
  parts: AsyncDisposableStack,
): Promise<CrashStores> {
  const config = storesOf(readEnvironment(storeSettings, environment));
  const index = { database, mostBytes: 64 * 2 ** 20, dimensionsOf: () => testProfile.dimension };
  return {
    objects: parts.use(await openObjects(config)),
    queue: parts.use(openQueue(config, database)),
    search: await openIndex(config, index, parts),
  };
}
