import { ConfigError, setting } from '#kit/env/read-environment';
import type { S3Options } from '#objects/adapters/s3/s3-client';
import type { NatsOptions } from '#queue/adapters/nats/nats-queue';
import { type OpenSearchChoice, openSearchOf, openSearchSettings } from './opensearch-config.ts';

/** Settings of the stores: the queue of ingest hints, the object store of staged documents, the search index, and the hosts that `content_ref` may name. */
export const storeSettings = {
  PORTCULLIS_NATS_URL: setting.optional(
    setting.string({
      help: 'nats://host:port or tls://host:port of NATS JetStream; without it hints go by PostgreSQL',
    }),
  ),
  PORTCULLIS_NATS_STREAM: setting.string({
    help: 'stream of this installation, created if absent',
    default: 'portcullis-retrieval',
  }),
  PORTCULLIS_NATS_CREDENTIALS_FILE: setting.optional(
    setting.file({ help: 'credentials file of NATS, read again for every connection' }),
  ),
  PORTCULLIS_NATS_CA_FILE: setting.optional(
    setting.file({ help: 'certificates in PEM that sign those of NATS; with it every connection uses TLS' }),
  ),
  PORTCULLIS_OBJECTS_DIR: setting.optional(
    setting.path({ help: 'folder of staged documents; either this or PORTCULLIS_S3_BUCKET' }),
  ),
  PORTCULLIS_S3_URL: setting.optional(setting.url({ help: 'address of S3, for staged documents and for content_ref' })),
  PORTCULLIS_S3_REGION: setting.string({ help: 'region of S3', default: 'us-east-1' }),
  PORTCULLIS_S3_BUCKET: setting.optional(
    setting.string({ help: 'existing bucket of staged documents; content_ref never leads into it' }),
  ),
  PORTCULLIS_S3_ACCESS_KEY_FILE: setting.optional(
    setting.file({ help: 'access key of S3, read for every request; required with PORTCULLIS_S3_URL' }),
  ),
  PORTCULLIS_S3_SECRET_KEY_FILE: setting.optional(
    setting.file({ help: 'secret key of S3, read for every request; required with PORTCULLIS_S3_URL' }),
  ),
  PORTCULLIS_S3_CA_FILE: setting.optional(setting.file({ help: 'certificates in PEM that sign those of S3' })),
  PORTCULLIS_CONTENT_SOURCES_FILE: setting.optional(
    setting.path({
      help: 'content-sources.yaml: what content_ref may name, followed on change; without it only public https addresses',
    }),
  ),
  ...openSearchSettings,
};

export type StoresConfig = {
  readonly nats: NatsOptions | undefined;
  readonly objects:
    | { readonly kind: 'folder'; readonly directory: string }
    | { readonly kind: 's3'; readonly bucket: string };
  /** The S3 service for staging in a bucket and for reading content_ref. */
  readonly s3: S3Options | undefined;
  readonly contentSourcesFile: string | undefined;
  /** Settings of OpenSearch; undefined if the search index is in the memory of each process. */
  readonly openSearch: OpenSearchChoice | undefined;
};

/** The settings as they were read. */
type StoreValues = Parameters<typeof openSearchOf>[0] & {
  readonly PORTCULLIS_NATS_URL: string | undefined;
  readonly PORTCULLIS_NATS_STREAM: string;
  readonly PORTCULLIS_NATS_CREDENTIALS_FILE: string | undefined;
  readonly PORTCULLIS_NATS_CA_FILE: string | undefined;
  readonly PORTCULLIS_OBJECTS_DIR: string | undefined;
  readonly PORTCULLIS_S3_URL: URL | undefined;
  readonly PORTCULLIS_S3_REGION: string;
  readonly PORTCULLIS_S3_BUCKET: string | undefined;
  readonly PORTCULLIS_S3_ACCESS_KEY_FILE: string | undefined;
  readonly PORTCULLIS_S3_SECRET_KEY_FILE: string | undefined;
  readonly PORTCULLIS_S3_CA_FILE: string | undefined;
  readonly PORTCULLIS_CONTENT_SOURCES_FILE: string | undefined;
};

/** @throws ConfigError if settings that belong together are not complete */
export function storesOf(read: StoreValues): StoresConfig {
  const s3 = s3Of(read);
  return {
    nats: natsOf(read),
    objects: objectsOf(read, s3),
    s3,
    contentSourcesFile: read.PORTCULLIS_CONTENT_SOURCES_FILE,
    openSearch: openSearchOf(read),
  };
}

function natsOf(read: StoreValues): NatsOptions | undefined {
  const url = read.PORTCULLIS_NATS_URL;
  const [credentials, ca] = [read.PORTCULLIS_NATS_CREDENTIALS_FILE, read.PORTCULLIS_NATS_CA_FILE];
  if (url === undefined) return undefined;
  // The message does not repeat the value, because people write passwords into addresses.
  if (!/^(?:nats|tls):\/\/[^\s@/?#]+$/.test(url)) {
    throw new ConfigError(['PORTCULLIS_NATS_URL must be nats://host:port or tls://host:port, without a user']);
  }
  if (!/^[A-Za-z0-9_-]{1,100}$/.test(read.PORTCULLIS_NATS_STREAM)) {
    throw new ConfigError(['PORTCULLIS_NATS_STREAM must have 1 to 100 letters, digits, _ or -']);
  }
  return {
    servers: [url],
    stream: read.PORTCULLIS_NATS_STREAM,
    clientName: 'portcullis-retrieval',
    ...(credentials === undefined ? {} : { credentials: { kind: 'creds', file: credentials } }),
    ...(ca === undefined ? {} : { tls: { caFile: ca } }),
  };
}

function s3Of(read: StoreValues): S3Options | undefined {
  const endpoint = read.PORTCULLIS_S3_URL;
  const [accessKeyFile, secretKeyFile] = [read.PORTCULLIS_S3_ACCESS_KEY_FILE, read.PORTCULLIS_S3_SECRET_KEY_FILE];
  if (endpoint === undefined) return undefined;
  if (accessKeyFile === undefined || secretKeyFile === undefined) {
    throw new ConfigError([
      'PORTCULLIS_S3_URL needs PORTCULLIS_S3_ACCESS_KEY_FILE and PORTCULLIS_S3_SECRET_KEY_FILE: set both',
    ]);
  }
  const caFile = read.PORTCULLIS_S3_CA_FILE;
  return {
    endpoint,
    region: read.PORTCULLIS_S3_REGION,
    credentials: { accessKeyFile, secretKeyFile },
    ...(caFile === undefined ? {} : { caFile }),
  };
}

function objectsOf(read: StoreValues, s3: S3Options | undefined): StoresConfig['objects'] {
  const [directory, bucket] = [read.PORTCULLIS_OBJECTS_DIR, read.PORTCULLIS_S3_BUCKET];
  if ((directory === undefined) === (bucket === undefined)) {
    throw new ConfigError([
      'set either PORTCULLIS_OBJECTS_DIR or PORTCULLIS_S3_BUCKET: staged documents have one place',
    ]);
  }
  if (directory !== undefined) return { kind: 'folder', directory };
  if (s3 === undefined) throw new ConfigError(['PORTCULLIS_S3_URL is missing: PORTCULLIS_S3_BUCKET needs it']);
  return { kind: 's3', bucket: bucket as string };
}
