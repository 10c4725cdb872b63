import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Agent as PlainAgent, request as requestPlain } from 'node:http';
import { request as requestTls, Agent as TlsAgent } from 'node:https';
import type { Client } from 'minio';
import { ObjectsUnavailableError } from '../../objects-error.ts';

export type S3Options = {
  /** `http://host:port` or `https://host`. */
  readonly endpoint: URL;
  /** `us-east-1` by default, which servers other than AWS accept. */
  readonly region?: string;
  /**
   * Mounted files, read for each request, so that a rotated key needs no restart; surrounding white space is ignored.
   */
  readonly credentials: {
    readonly accessKeyFile: string;
    readonly secretKeyFile: string;
    readonly sessionTokenFile?: string;
  };
  /** `https://endpoint/bucket` by default; with false `https://bucket.endpoint`. */
  readonly pathStyle?: boolean;
  /** PEM file with the only trusted certificates, read at the start; when absent, those of the system. */
  readonly caFile?: string;
  /** Timeout of a request including its answer, milliseconds; 30,000 by default. */
  readonly timeoutMs?: number;
};

/** Connections at a time. */
const maxSockets = 32;
/**
 * Objects up to this size are stored by one request, which S3 executes atomically; S3 does not allow a larger request.
 */
const partSize = 5 * 1_024 ** 3;

export type S3Client = Disposable & {
  /** @throws ObjectsUnavailableError if the credentials cannot be read */
  current(): Promise<Client>;
};

/**
 * Creates the client of the package, with a timeout for each request. Its retries are off, because they write to the
 * terminal.
 */
export async function createS3Client(options: S3Options): Promise<S3Client> {
  // Imported on demand: most processes have no objects in S3.
  const { Client } = await import('minio');
  const { endpoint, region, pathStyle, caFile, timeoutMs } = options;
  const isTls = endpoint.protocol === 'https:';
  const ca = caFile === undefined ? {} : { ca: readFileSync(caFile) };
  const pool = { keepAlive: true, maxSockets };
  const transportAgent = isTls ? new TlsAgent({ ...pool, ...ca }) : new PlainAgent(pool);
  const shared = {
    endPoint: endpoint.hostname,
    ...(endpoint.port === '' ? {} : { port: Number(endpoint.port) }),
    useSSL: isTls,
    region: region ?? 'us-east-1',
    pathStyle: pathStyle ?? true,
    transport: transportOf(isTls, timeoutMs ?? 30_000),
    transportAgent,
    partSize,
    retryOptions: { disableRetry: true },
  };
  let held: { readonly name: string; readonly client: Client } | undefined;
  return {
    async current() {
      const credentials = await readCredentials(options);
      // The package takes credentials at creation, so that a change needs a new client.
      const name = JSON.stringify(credentials);
      if (held?.name !== name) held = { name, client: new Client({ ...shared, ...credentials }) };
      return held.client;
    },
    [Symbol.dispose]: () => transportAgent.destroy(),
  };
}

async function readCredentials({ credentials: { accessKeyFile, secretKeyFile, sessionTokenFile } }: S3Options) {
  const [accessKey, secretKey, sessionToken] = await Promise.all([
    read(accessKeyFile),
    read(secretKeyFile),
    sessionTokenFile === undefined ? undefined : read(sessionTokenFile),
  ]);
  return { accessKey, secretKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
}

async function read(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => '');
  if (text.trim() === '') throw new ObjectsUnavailableError('credentials');
  return text.trim();
}

type Transport = { readonly request: typeof requestPlain };

/** Ends a request whose answer is not read to its end in time; the package has no timeout. */
function transportOf(isTls: boolean, timeoutMs: number): Transport {
  const send = (isTls ? requestTls : requestPlain) as typeof requestPlain;
  const request = (...args: Parameters<typeof requestPlain>) => {
    const sent = send(...args);
    const timer = setTimeout(() => sent.destroy(new Error('the store is too slow')), timeoutMs);
    sent.on('close', () => clearTimeout(timer));
    return sent;
  };
  return { request: request as typeof requestPlain };
}
