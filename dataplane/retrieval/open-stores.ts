import { mkdir } from 'node:fs/promises';
import { followFiles } from '#environment/follow-files';
import { readYamlFile } from '#environment/read-yaml-file';
import { ConfigError } from '#kit/env/config-error';
import { openTokenFile } from '#kit/http/token-file';
import type { Logger } from '#kit/log/logger';
import { createFolderObjects } from '#objects/adapters/folder/folder-objects';
import { createS3Client } from '#objects/adapters/s3/s3-client';
import { openS3Objects } from '#objects/adapters/s3/s3-objects';
import type { ObjectStore } from '#objects/ports';
import { createNatsQueue } from '#queue/adapters/nats/nats-queue';
import { createPostgresQueue } from '#queue/adapters/postgres/postgres-queue';
import type { HintQueue } from '#queue/ports';
import { openEmbeddedIndex } from '#search/adapters/embedded/embedded-index';
import { connectOpenSearch } from '#search/adapters/opensearch/connect-opensearch';
import { openOpenSearchIndex } from '#search/adapters/opensearch/opensearch-index';
import type { SearchIndex } from '#search/ports';
import type { Database } from '#sql/connect';
import { chunkSource } from './index/chunk-source.ts';
import { openSearchPlaces } from './index/opensearch-places.ts';
import { openSearchUpkeep } from './index/opensearch-upkeep.ts';
import { partitionName } from './index/partition-name.ts';
import type { PreloadedIndex } from './index/start-preloading.ts';
import { createContentFetcher } from './ingest/fetch/content-fetcher.ts';
import { type ContentSources, contentSources } from './ingest/fetch/content-sources.ts';
import type { ContentFetcher } from './ingest/ports.ts';
import type { HeldIndex } from './monitoring/read-index-state.ts';
import type { StoresConfig } from './stores-config.ts';

export function openQueue({ nats }: StoresConfig, database: Database): HintQueue {
  return nats === undefined ? createPostgresQueue(database) : createNatsQueue(nats);
}

/** A folder is created once, at startup: a folder that is missing later was not mounted, and is not an empty store. */
export async function openObjects({ objects, s3 }: StoresConfig): Promise<ObjectStore> {
  if (objects.kind === 's3' && s3 !== undefined) return openS3Objects(s3, { bucket: objects.bucket, prefix: '' });
  if (objects.kind === 's3') throw new Error('staging in S3 has no address of S3');
  await mkdir(objects.directory, { recursive: true, mode: 0o700 });
  return createFolderObjects(objects.directory);
}

export type OpenedIndex = {
  readonly index: SearchIndex;
  /** Name of the adapter. */
  readonly name: 'embedded' | 'opensearch';
  /** Rejects unless the index can answer. */
  readonly answers: () => Promise<unknown>;
  /** Loads versions before their switch. */
  readonly preloaded: PreloadedIndex;
  /** The index in the memory of this process; absent with OpenSearch. */
  readonly held?: HeldIndex;
  /** Removes the entries of a version. */
  readonly dropPartition: (collectionId: string, version: number) => Promise<void>;
  /** Applies committed changes, such as deletions, to an index outside of this process. */
  readonly followChanges: (signal: AbortSignal) => Promise<void>;
  /** Removes the remaining entries of places that are no longer used. */
  readonly clearLeft: (signal: AbortSignal) => Promise<void>;
};

type IndexParts = {
  readonly database: Database;
  /** Limit of the estimated size of the embedded index, in bytes. */
  readonly mostBytes: number;
  /** Number of dimensions of the vectors of a profile; undefined while the profile is not approved. */
  readonly dimensionsOf: (profileId: string) => number | undefined;
};

/** @throws ConfigError if the files of OpenSearch cannot be used; no request is sent to its server yet */
export async function openIndex(
  { openSearch }: StoresConfig,
  { database, mostBytes, dimensionsOf }: IndexParts,
  parts: AsyncDisposableStack,
): Promise<OpenedIndex> {
  const source = chunkSource(database);
  if (openSearch === undefined) {
    const index = parts.use(openEmbeddedIndex({ source, mostBytes }));
    return {
      index,
      preloaded: index,
      held: index,
      name: 'embedded',
      // The index answers a query only after it has read the committed changes from PostgreSQL.
      answers: () => database.sql`select 1`,
      dropPartition: (collectionId, version) => index.drop(partitionName({ collectionId, version })),
      followChanges: async () => undefined,
      clearLeft: async () => undefined,
    };
  }
  const { url, credential, caFile, prefix } = openSearch;
  const connection = parts.use(
    await connectOpenSearch({
      nodes: [url],
      ...(caFile === undefined ? {} : { caFile }),
      ...(credential === undefined
        ? {}
        : { credential: { user: credential.user, passwordFile: openTokenFile(credential.passwordFile) } }),
    }),
  );
  const places = openSearchPlaces(database, { prefix, dimensionsOf });
  const index = parts.use(openOpenSearchIndex({ connection, source, placeOf: places.placeOf }));
  return { index, preloaded: index, name: 'opensearch', ...openSearchUpkeep({ index, places, connection, prefix }) };
}

type SourcesWatch = {
  readonly logger: Logger;
  /** Receives whether the newest change of the file of sources was refused. */
  readonly onRefused: (isRefused: boolean) => void;
};

/** @throws ConfigError if the file of sources cannot be used at the start */
export async function openFetcher(
  { objects, s3, contentSourcesFile }: StoresConfig,
  parts: AsyncDisposableStack,
  watch: SourcesWatch,
): Promise<ContentFetcher> {
  const sources = await openSources(contentSourcesFile, parts, watch);
  const client = s3 === undefined ? undefined : parts.use(await createS3Client(s3));
  return parts.use(
    createContentFetcher({
      sources,
      ...(client === undefined ? {} : { s3: client }),
      ...(objects.kind === 's3' ? { staging: { bucket: objects.bucket, key: '' } } : {}),
    }),
  );
}

async function openSources(
  path: string | undefined,
  parts: AsyncDisposableStack,
  { logger, onRefused }: SourcesWatch,
): Promise<() => ContentSources> {
  if (path === undefined) {
    const none = contentSources.parse({});
    return () => none;
  }
  const followed = await followFiles({
    paths: [path],
    async read() {
      const { value, problems } = await readYamlFile(path, contentSources, undefined);
      if (value === undefined || problems.length > 0) throw new ConfigError(problems);
      return value;
    },
    onTaken({ s3, allowedNetworks, tenantNetworks }) {
      onRefused(false);
      const networks = allowedNetworks.length + Object.values(tenantNetworks).flat().length;
      logger.info('content_sources_loaded', { tenants: Object.keys(s3).length, networks });
    },
    onRefused(problems) {
      onRefused(true);
      logger.warn('content_sources_refused', { problems: problems.length });
    },
  });
  parts.use(followed);
  return followed.current;
}
