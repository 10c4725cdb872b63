import { mkdir } from 'node:fs/promises';
import { followFiles } from '#environment/follow-files';
import { readYamlFile } from '#environment/read-yaml-file';
import { ConfigError } from '#kit/env/config-error';
import type { Logger } from '#kit/log/logger';
import { createFolderObjects } from '#objects/adapters/folder/folder-objects';
import { createS3Client } from '#objects/adapters/s3/s3-client';
import { openS3Objects } from '#objects/adapters/s3/s3-objects';
import type { ObjectStore } from '#objects/ports';
import { createNatsQueue } from '#queue/adapters/nats/nats-queue';
import { createPostgresQueue } from '#queue/adapters/postgres/postgres-queue';
import type { HintQueue } from '#queue/ports';
import type { Database } from '#sql/connect';
import { createContentFetcher } from './ingest/fetch/content-fetcher.ts';
import { type ContentSources, contentSources } from './ingest/fetch/content-sources.ts';
import type { ContentFetcher } from './ingest/ports.ts';
import type { StoresConfig } from './stores-config.ts';

export function openQueue({ nats }: StoresConfig, database: Database): HintQueue {
  return nats === undefined ? createPostgresQueue(database) : createNatsQueue(nats);
}

/** A folder is created once at the start: one that is missing later was not mounted, and is no empty store. */
export async function openObjects({ objects, s3 }: StoresConfig): Promise<ObjectStore> {
  if (objects.kind === 's3' && s3 !== undefined) return openS3Objects(s3, { bucket: objects.bucket, prefix: '' });
  if (objects.kind === 's3') throw new Error('staging in S3 has no address of S3');
  await mkdir(objects.directory, { recursive: true, mode: 0o700 });
  return createFolderObjects(objects.directory);
}

type SourcesWatch = {
  readonly logger: Logger;
  /** Whether the newest change of the file of sources was refused. */
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
    onTaken({ s3, allowedNetworks }) {
      onRefused(false);
      logger.info('content_sources_taken', { tenants: Object.keys(s3).length, networks: allowedNetworks.length });
    },
    onRefused(problems) {
      onRefused(true);
      logger.warn('content_sources_refused', { problems: problems.length });
    },
  });
  parts.use(followed);
  return followed.current;
}
