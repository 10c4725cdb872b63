import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { IngestJob } from '#contracts/retrieval';
import { unusedPort } from '#kit/testing/loopback';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { connectSql, type Database, passwordFrom } from '#sql/connect';
import { startTestServer, type TestDatabase } from '#sql/testing/test-server';
import { makeDocx, makePdf } from '../../cli/documents/testing/make-documents.ts';
import { documentOf } from '../../dataplane/retrieval/testing/open-retrieval.ts';
import { openS3Objects } from '../../libraries/objects/adapters/s3/s3-objects.ts';
import { missingPostgres } from '../../libraries/sql/testing/test-database.ts';
import { digestDimension, digestVector, startEmbeddings } from '../support/embedding-server.ts';
import { type RunningProcess, startProcess } from '../support/start-process.ts';
import { type MinioServer, minioProgram, startMinio } from './minio-server.ts';

const missing = missingPostgres ?? minioProgram.missing;
const title = 'the process of retrieval with hostile contents, S3 that stops, and a full disk';
const stack = new AsyncDisposableStack();
/** The content of an object may have 64 MiB. */
const mebibyte = 1_048_576;

let minio: MinioServer;
let restartMinio: () => Promise<void>;
let docs: string;
let service: RunningProcess;
let database: Database;
let settings: Record<string, string>;
let emptyDatabase: () => Promise<TestDatabase>;

type Answer = { readonly status: number; readonly json: Readonly<Record<string, unknown>> };

async function call(path: string, body?: unknown, { url } = service): Promise<Answer> {
  const answer = await fetch(`${url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      'content-type': 'application/json',
      'x-user-id': 'ann',
      'x-tenant-id': 'acme',
      'x-groups': 'staff',
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, json: (await answer.json()) as Answer['json'] };
}

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const inlineDocument = (docId: string, text: string): object => documentOf('papers', docId, text);

/** Stores the bytes in S3 and submits a document that refers to them. */
async function refer(docId: string, bytes: Uint8Array): Promise<object> {
  await using store = await openS3Objects(minio.options, { bucket: docs, prefix: '' });
  await store.put(`acme/${docId}`, bytes);
  const hash = hashOf(bytes);
  return documentOf('papers', docId, '', {
    content: undefined,
    content_ref: { uri: `s3://${docs}/acme/${docId}`, content_hash: hash },
    content_hash: hash,
  });
}

async function createPapers(on: RunningProcess): Promise<void> {
  const made = await call('/v1/collections', { name: 'papers', embedding_profile_id: 'p' }, on);
  expect(made).toMatchObject({ status: 201 });
}

async function submit(documents: readonly object[], from = service): Promise<readonly string[]> {
  const { status, json } = await call('/v1/documents:submit', { documents }, from);
  expect({ status, json }).toMatchObject({ status: 202 });
  return (json['jobs'] as readonly { readonly job_id: string }[]).map(({ job_id }) => job_id);
}

const jobOf = async (id: string, from = service): Promise<IngestJob> =>
  (await call(`/v1/jobs/${id}`, undefined, from)).json as unknown as IngestJob;

async function ended(id: string, from = service): Promise<IngestJob> {
  return await until('the job has ended', async () => {
    const job = await jobOf(id, from);
    return job.status === 'DONE' || job.status === 'FAILED' ? job : undefined;
  });
}

/** Makes every open job due now: the test skips the pauses after a fault. */
async function endPauses(): Promise<void> {
  await database.sql`
    update retrieval.jobs set due_at = clock_timestamp(), updated_at = updated_at - interval '1 minute'
    where status in ('PENDING', 'RUNNING') and retry_at is not null`;
}

describe.skipIf(missing !== undefined)(missing === undefined ? title : `${title} (${missing})`, () => {
  beforeAll(async () => {
    const folder = stack.use(temporaryFolder()).path;
    const postgres = stack.use(await startTestServer());
    emptyDatabase = () => postgres.createDatabase();
    const opened = await emptyDatabase();
    const embeddings = stack.use(await startEmbeddings({ vectorOf: digestVector }));
    const port = await unusedPort();
    mkdirSync(join(folder, 'minio'));
    minio = await startMinio(join(folder, 'minio'), port);
    stack.defer(() => minio.end());
    restartMinio = async () => {
      minio = await startMinio(join(folder, 'minio'), port);
    };
    docs = await minio.createBucket();
    const staging = await minio.createBucket();
    const modelsFile = join(folder, 'models.yaml');
    writeFileSync(modelsFile, JSON.stringify({ embedding: [{ id: 'p', model: 'm', dimension: digestDimension }] }));
    const contentSources = join(folder, 'content-sources.yaml');
    writeFileSync(contentSources, `s3: { acme: [s3://${docs}/acme/] }\n`);
    const { endpoint, credentials } = minio.options;
    settings = {
      PORTCULLIS_IDENTITY: 'development',
      PORTCULLIS_DATABASE_URL: opened.url,
      PORTCULLIS_DATABASE_PASSWORD_FILE: opened.passwordFile,
      PORTCULLIS_MODEL_GATEWAY_URL: embeddings.url,
      PORTCULLIS_MODELS_FILE: modelsFile,
      PORTCULLIS_LOG_LEVEL: 'error',
      PORTCULLIS_EXIT_WITH_STDIN: '1',
      PORTCULLIS_CONTENT_SOURCES_FILE: contentSources,
      PORTCULLIS_S3_URL: endpoint.href,
      PORTCULLIS_S3_ACCESS_KEY_FILE: credentials.accessKeyFile,
      PORTCULLIS_S3_SECRET_KEY_FILE: credentials.secretKeyFile,
    };
    service = stack.use(
      await startProcess({
        file: 'dataplane/retrieval/main.ts',
        environment: { ...settings, PORTCULLIS_S3_BUCKET: staging },
      }),
    );
    const password = passwordFrom(opened.passwordFile);
    database = stack.use(connectSql({ url: opened.url, password, applicationName: 'test', max: 2 }));
    await createPapers(service);
  });
  afterAll(() => stack.disposeAsync());

  test('contents that are too large, archives, or not text end FAILED with the reason, and the next document is indexed', async () => {
    const pdf = Buffer.concat([makePdf(['otter']), Buffer.alloc(100_000_000)]);
    const bomb = makeDocx(['otter'], [{ name: 'x', content: Buffer.alloc(80 * mebibyte) }]);
    const text = Buffer.concat([
      Buffer.from('{"content":{"sections":[{"text":"ot'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('ter"}]}}'),
    ]);
    const deep = Buffer.from(`{"content":${'['.repeat(100_000)}${']'.repeat(100_000)}}`);
    const wide = Buffer.from(`{"content":[${'[],'.repeat(20_000_000)}[]]}`);
    const cases: readonly (readonly [string, Buffer, RegExp])[] = [
      ['huge.pdf', pdf, /^content_ref names more than 67108864 bytes$/],
      ['bomb.docx', bomb, /^the document of content_ref is not JSON: /],
      ['broken.json', text, /^the document of content_ref is not JSON: /],
      ['deep.json', deep, /^the document of content_ref is not JSON: /],
      ['wide.json', wide, /^the document of content_ref is not JSON: /],
    ];
    for (const [docId, bytes, reason] of cases) {
      const [id = ''] = await submit([await refer(docId, bytes)]);
      const job = await ended(id);
      expect([docId, job.status, job.error]).toEqual([docId, 'FAILED', expect.stringMatching(reason)]);
      expect(JSON.stringify(job)).not.toContain('otter');
    }
    const [id = ''] = await submit([inlineDocument('fine', 'The otter sleeps in the river.')]);
    expect(await ended(id)).toMatchObject({ status: 'DONE' });
    const { json } = await call('/v1/query', { collection: 'papers', text: 'otter', mode: 'bm25' });
    expect((json['items'] as readonly { doc_id: string }[]).map((item) => item.doc_id)).toEqual(['fine']);
  });

  test('a submit while S3 is stopped is refused, and earlier documents wait and are indexed when S3 has recovered', async () => {
    const texts = Array.from({ length: 20 }, (_, at) => at);
    const referred = await Promise.all(
      texts.map((at) => refer(`late-${at}`, Buffer.from(`{"content":{"sections":[{"text":"Heron number ${at}."}]}}`))),
    );
    const ids = await submit(referred);
    await minio.end();
    const refused = await call('/v1/documents:submit', { documents: [inlineDocument('during', 'A heron.')] });
    expect(refused.status).toBe(503);
    const states = async () => (await Promise.all(ids.map((id) => jobOf(id)))).map(({ status }) => status);
    expect(await states()).not.toContain('FAILED');
    await restartMinio();
    await until('every document is indexed', async () => {
      await endPauses();
      return (await states()).every((state) => state === 'DONE');
    });
    expect(await ended((await submit([inlineDocument('after', 'A heron.')]))[0] ?? '')).toMatchObject({
      status: 'DONE',
    });
  });

  test('on a full disk a submit is refused and stored documents are kept; documents are accepted again when there is room', async (context) => {
    using folder = temporaryFolder();
    const objects = join(folder.path, 'objects');
    mkdirSync(objects);
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', objects], { stdio: 'ignore' });
    } catch {
      context.skip('needs the right to mount a file system');
    }
    try {
      const fill = join(objects, 'fill');
      const own = await emptyDatabase();
      await using small = await startProcess({
        file: 'dataplane/retrieval/main.ts',
        environment: { ...settings, PORTCULLIS_DATABASE_URL: own.url, PORTCULLIS_OBJECTS_DIR: objects },
      });
      await createPapers(small);
      const [first = ''] = await submit([inlineDocument('kept', 'A badger.')], small);
      expect(await ended(first, small)).toMatchObject({ status: 'DONE' });
      writeFileSync(fill, Buffer.alloc(900_000));
      const large = inlineDocument('large', 'badger '.repeat(40_000));
      const refused = await call(
        '/v1/documents:submit',
        { documents: [inlineDocument('small', 'A badger.'), large] },
        small,
      );
      expect(refused.status).toBe(503);
      const { json } = await call('/v1/query', { collection: 'papers', text: 'badger', mode: 'bm25' }, small);
      expect((json['items'] as readonly { doc_id: string }[]).map((item) => item.doc_id)).toEqual(['kept']);
      execFileSync('rm', [fill]);
      const [again = ''] = await submit([large], small);
      expect(await ended(again, small)).toMatchObject({ status: 'DONE' });
    } finally {
      execFileSync('umount', [objects]);
    }
  });
});
