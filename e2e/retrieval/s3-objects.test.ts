import { rmSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startFaultyProxy } from '#kit/testing/faulty-proxy';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { readObject } from '../../libraries/objects/adapters/s3/read-object.ts';
import { createS3Client } from '../../libraries/objects/adapters/s3/s3-client.ts';
import { openS3Objects } from '../../libraries/objects/adapters/s3/s3-objects.ts';
import { objectStoreSuite } from '../../libraries/objects/testing/object-store-suite.ts';
import { verifies } from '../support/verifies.ts';
import { type MinioServer, minioProgram, startMinio } from './minio-server.ts';

const small = { maxBytes: 1_000 } as const;
const bytes = Buffer.from('text');
const unavailable = (fault: string) => ({ code: 'objects_unavailable', fault });

describe.skipIf(minioProgram.missing !== undefined)(minioProgram.on('objects in S3'), () => {
  const folder = temporaryFolder();
  let server: MinioServer;
  beforeAll(async () => {
    server = await startMinio(folder.path);
  });
  afterAll(async () => {
    await server.end();
    folder[Symbol.dispose]();
  });

  objectStoreSuite(async () => {
    const bucket = await server.createBucket();
    return openS3Objects(server.options, { bucket, prefix: '' });
  }, 's3:');

  test('an S3 store below a folder of a bucket neither lists nor reads objects outside of the folder', async () => {
    const bucket = await server.createBucket();
    await using whole = await openS3Objects(server.options, { bucket, prefix: '' });
    await using inside = await openS3Objects(server.options, { bucket, prefix: 'inside/' });
    await whole.put('beside', bytes);
    await whole.put('inside2/a', bytes);
    await inside.put('a', bytes);
    expect(inside.uriOf('a')).toBe(`s3://${bucket}/inside/a`);
    expect((await Array.fromAsync(inside.list(''))).map(({ key }) => key)).toEqual(['a']);
    expect(await inside.get('beside', small)).toBeUndefined();
    expect((await whole.get('inside/a', small))?.byteLength).toBe(4);
  });

  test('access to a bucket that does not exist is denied, and its objects are not reported as absent', async () => {
    await using store = await openS3Objects(server.options, { bucket: 'no-such-bucket', prefix: '' });
    for (const run of [
      () => store.put('a', bytes),
      () => store.get('a', small),
      () => Array.fromAsync(store.list('')),
    ]) {
      await expect(run()).rejects.toMatchObject(unavailable('denied'));
    }
  });

  verifies(
    ['retrieval:integration:no-staging-write'],
    'an object that is written directly is refused without the keys of the service, also with the token of an integration',
    async () => {
      const bucket = await server.createBucket();
      await using store = await openS3Objects(server.options, { bucket, prefix: '' });
      for (const headers of [{}, { authorization: 'Bearer a.b.c' }]) {
        const url = new URL(`${bucket}/staging/t-acme/written`, server.options.endpoint);
        const { status } = await fetch(url, { method: 'PUT', headers, body: bytes });
        expect([400, 401, 403]).toContain(status);
      }
      expect(await Array.fromAsync(store.list(''))).toEqual([]);
    },
  );

  test('rotated S3 credentials take effect without a restart, and missing ones are reported', async () => {
    const bucket = await server.createBucket();
    using own = temporaryFolder();
    const accessKeyFile = `${own.path}/access`;
    const credentials = { ...server.options.credentials, accessKeyFile };
    await using store = await openS3Objects({ ...server.options, credentials }, { bucket, prefix: '' });
    await expect(store.put('a', bytes)).rejects.toMatchObject(unavailable('credentials'));
    writeFileSync(accessKeyFile, 'somebody');
    const refused = store.put('a', bytes);
    await expect(refused).rejects.toMatchObject(unavailable('credentials'));
    await expect(refused).rejects.not.toThrow('somebody');
    writeFileSync(accessKeyFile, 'portcullis\n');
    await store.put('a', bytes);
    rmSync(accessKeyFile);
    await expect(store.get('a', small)).rejects.toMatchObject(unavailable('credentials'));
  });

  test.each([
    [503, 'SlowDown', 'unreachable'],
    [500, 'InternalError', 'unreachable'],
    [403, 'AccessDenied', 'denied'],
    [507, 'XMinioStorageFull', 'full'],
    [400, 'ExpiredToken', 'credentials'],
  ])('the S3 answer %i %s is %s', async (status, code, fault) => {
    const bucket = await server.createBucket();
    await using proxy = await startFaultyProxy(server.options.endpoint.href.replace(/\/$/, ''));
    const endpoint = new URL(proxy.url);
    await using store = await openS3Objects({ ...server.options, endpoint }, { bucket, prefix: '' });
    const body = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>no</Message></Error>`;
    proxy.choose = () => ({ kind: 'answer', answer: { status, headers: { 'content-type': 'application/xml' }, body } });
    await expect(store.put('a', bytes)).rejects.toMatchObject(unavailable(fault));
    await expect(store.get('a', small)).rejects.toMatchObject(unavailable(fault));
    await expect(store.delete('a')).rejects.toMatchObject(unavailable(fault));
    await expect(Array.fromAsync(store.list(''))).rejects.toMatchObject(unavailable(fault));
  });

  test.each(['silence', 'reset'] as const)(
    'an S3 store that answers with %s is unreachable after the timeout',
    async (kind) => {
      const bucket = await server.createBucket();
      await using proxy = await startFaultyProxy(server.options.endpoint.href.replace(/\/$/, ''));
      const endpoint = new URL(proxy.url);
      await using store = await openS3Objects({ ...server.options, endpoint, timeoutMs: 300 }, { bucket, prefix: '' });
      proxy.choose = () => ({ kind });
      await expect(store.put('a', bytes)).rejects.toMatchObject(unavailable('unreachable'));
      await expect(store.get('a', small)).rejects.toMatchObject(unavailable('unreachable'));
      await expect(Array.fromAsync(store.list(''))).rejects.toMatchObject(unavailable('unreachable'));
    },
  );

  test('an S3 object whose bytes stop arriving is unreachable after the timeout or the abort of its reader', async () => {
    const bucket = await server.createBucket();
    await using proxy = await startFaultyProxy(server.options.endpoint.href.replace(/\/$/, ''));
    const options = { ...server.options, endpoint: new URL(proxy.url) };
    await using store = await openS3Objects({ ...options, timeoutMs: 500 }, { bucket, prefix: '' });
    await using direct = await openS3Objects(server.options, { bucket, prefix: '' });
    await direct.put('a', Buffer.alloc(500_000, 'a'));
    proxy.choose = () => ({ kind: 'cut', ending: 'silence' });
    const large = { maxBytes: 1_000_000 } as const;
    await expect(store.get('a', large)).rejects.toMatchObject(unavailable('unreachable'));
    using client = await createS3Client(options);
    const ending = new AbortController();
    const reading = readObject(client, { bucket, key: 'a' }, { ...large, signal: ending.signal });
    await until('the object is asked for', () => proxy.passed.length >= 2);
    ending.abort();
    await expect(reading).rejects.toMatchObject(unavailable('unreachable'));
  });

  test('a stopped S3 server is unreachable, and its objects are available after a restart', async () => {
    using own = temporaryFolder();
    const first = await startMinio(own.path);
    const bucket = await first.createBucket();
    await using store = await openS3Objects(first.options, { bucket, prefix: '' });
    await store.put('a', bytes);
    await first.end();
    await expect(store.put('b', bytes)).rejects.toMatchObject(unavailable('unreachable'));
    await expect(store.get('a', small)).rejects.toMatchObject(unavailable('unreachable'));
    await using _again = await startMinio(own.path, Number(first.options.endpoint.port));
    expect((await store.get('a', small))?.byteLength).toBe(4);
    expect(await store.get('b', small)).toBeUndefined();
  });
});
