import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { closeServer, listenOnLoopback } from '#kit/testing/loopback';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { documentOf, type OpenedRetrieval, openRetrieval } from '../../dataplane/retrieval/testing/open-retrieval.ts';
import { createAuthority } from '../../hack/cluster/certificates/authority.ts';
import { openS3Objects } from '../../libraries/objects/adapters/s3/s3-objects.ts';
import { missingPostgres } from '../../libraries/sql/testing/test-database.ts';
import { verifies } from '../support/verifies.ts';
import { type MinioServer, minioProgram, startMinio } from './minio-server.ts';
import { natsProgram, startNats } from './nats-server.ts';

const missing = missingPostgres ?? minioProgram.missing ?? natsProgram.missing;
const title = 'the retrieval service with S3, NATS and an https server';
const ann = { user: 'ann', groups: ['staff'] };
const stack = new AsyncDisposableStack();

let minio: MinioServer;
let service: OpenedRetrieval;
let docs: string;
let origin: string;

/** A canonical document whose other members must be ignored. */
const canonical = (text: string): Buffer =>
  Buffer.from(JSON.stringify({ acl: { groups: ['everyone'] }, doc_id: 'other', content: { sections: [{ text }] } }));

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** A document that is not inline. */
const referred = (docId: string, uri: string, hash: string): object =>
  documentOf('handbook', docId, '', {
    content: undefined,
    content_ref: { uri, content_hash: hash },
    content_hash: hash,
  });

async function put(bucket: string, key: string, bytes: Uint8Array): Promise<void> {
  await using store = await openS3Objects(minio.options, { bucket, prefix: '' });
  await store.put(key, bytes);
}

async function found(text: string): Promise<readonly unknown[]> {
  const { json } = await service.call(ann, '/v1/query', { collection: 'handbook', text, mode: 'bm25' });
  return (json['items'] as readonly { doc_id: string }[]).map((item) => item.doc_id);
}

describe.skipIf(missing !== undefined)(missing === undefined ? title : `${title} (${missing})`, () => {
  const before = getCACertificates('default');
  const presigned = canonical('Meals cost at most 40 euros a day.');

  beforeAll(async () => {
    const folder = stack.use(temporaryFolder());
    const authority = createAuthority();
    setDefaultCACertificates([...before, authority.certificate]);
    stack.defer(() => setDefaultCACertificates(before));
    const { certificate, key } = authority.issueServer({ commonName: 'store' }, ['127.0.0.1']);
    const https = createServer({ cert: certificate, key }, (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(presigned);
    });
    origin = (await listenOnLoopback(https)).replace('http:', 'https:');
    stack.defer(() => closeServer(https));
    minio = stack.use(await startMinio(folder.path));
    const nats = stack.use(await startNats({ folder: folder.path }));
    const bucket = await minio.createBucket();
    docs = await minio.createBucket();
    const contentSourcesFile = join(folder.path, 'content-sources.yaml');
    writeFileSync(contentSourcesFile, `s3: { acme: [s3://${docs}/acme/] }\nallowedNetworks: [127.0.0.1/32]\n`);
    const stores = {
      nats: { servers: [nats.url], stream: 'hints', clientName: 'test' },
      objects: { kind: 's3', bucket },
      s3: { ...minio.options, timeoutMs: 2_000 },
      contentSourcesFile,
      openSearch: undefined,
    } as const;
    service = stack.use(await openRetrieval({ config: { stores } }));
    await service.call(ann, '/v1/collections', { name: 'handbook', embedding_profile_id: 'test-profile' });
  });
  afterAll(() => stack.disposeAsync());

  verifies(
    ['retrieval:content-ref:uri-s3'],
    'the content of an s3 address becomes searchable, and other members of the canonical document are ignored',
    async () => {
      const bytes = canonical('Hotels cost at most 180 euros a night.');
      await put(docs, 'acme/hotels.json', bytes);
      await put(docs, 'other/hotels.json', bytes);
      const jobs = await service.ingest(ann, [
        referred('hotels', `s3://${docs}/acme/hotels.json`, `sha256:${hashOf(bytes)}`),
        referred('foreign', `s3://${docs}/other/hotels.json`, hashOf(bytes)),
        referred('changed', `s3://${docs}/acme/hotels.json`, hashOf(Buffer.from('other bytes'))),
      ]);
      expect(jobs.map(({ status }) => status)).toEqual(['DONE', 'FAILED', 'FAILED']);
      expect(jobs[0]?.payload_uri).toMatch(/^s3:\/\/bucket-\d+\/staging\/t-acme\//);
      expect(await found('hotels')).toEqual(['hotels']);
    },
  );

  verifies(
    ['retrieval:content-ref:uri-https-presigned'],
    'the content of an https address becomes searchable, and a refused address ends the job',
    async () => {
      const jobs = await service.ingest(ann, [
        referred('meals', `${origin}/meals.json?X-Amz-Signature=1`, hashOf(presigned)),
        referred('inside', 'https://169.254.169.254/latest/meta-data', hashOf(presigned)),
      ]);
      expect(jobs.map(({ status }) => status)).toEqual(['DONE', 'FAILED']);
      expect(await found('meals')).toEqual(['meals']);
    },
  );

  verifies(
    ['retrieval:health:components'],
    'while S3 is stopped, submits are refused with 503 and the health endpoint reports it',
    async () => {
      expect((await service.call(ann, '/health')).json).toMatchObject({ status: 'ok' });
      await minio.end();
      const { status } = await service.call(ann, '/v1/documents:submit', {
        documents: [documentOf('handbook', 'late', 'Trains are booked early.')],
      });
      expect(status).toBe(503);
      const { json } = await service.call(ann, '/health');
      expect(json).toMatchObject({
        status: 'degraded',
        components: { postgres: 'ok', rabbitmq: 'ok', s3: 'degraded', opensearch: 'ok' },
      });
      expect(await found('hotels')).toEqual(['hotels']);
    },
  );
});
