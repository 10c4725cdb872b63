import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { closeServer, unusedPort } from '#kit/testing/loopback';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { createContentFetcher } from '../../dataplane/retrieval/ingest/fetch/content-fetcher.ts';
import { contentSources } from '../../dataplane/retrieval/ingest/fetch/content-sources.ts';
import { createAuthority } from '../../hack/cluster/certificates/authority.ts';
import { createS3Client } from '../../libraries/objects/adapters/s3/s3-client.ts';
import { openS3Objects } from '../../libraries/objects/adapters/s3/s3-objects.ts';
import { type ChangingDns, startChangingDns } from './changing-dns.ts';
import { minioProgram, startMinio } from './minio-server.ts';

const authority = createAuthority();
const scope = { tenant: 'acme', collectionId: '00000000-0000-4000-8000-000000000000' };
const document = JSON.stringify({ content: { title: 'a' } });
const json = { 'content-type': 'application/json' };

type Serve = (request: IncomingMessage, response: ServerResponse) => void;

let server: Server;
let port: number;
let dns: ChangingDns;
let serve: Serve;
/** Local addresses that received requests. */
let reached: (string | undefined)[];
let fetcher: ReturnType<typeof createContentFetcher>;

beforeAll(async () => {
  const { certificate, key } = authority.issueServer({ commonName: 'store' }, ['store.test', '127.0.0.1', '127.0.0.2']);
  server = createServer({ cert: certificate, key }, (request, response) => {
    reached.push(request.socket.localAddress);
    serve(request, response);
  });
  port = await unusedPort();
  server.listen(port, '0.0.0.0');
});
afterAll(() => closeServer(server));
beforeEach(async () => {
  reached = [];
  serve = (_request, response) => response.writeHead(200, json).end(document);
  dns = await startChangingDns();
  dns.answers = [['127.0.0.2']];
  fetcher = fetcherOf(['127.0.0.2/32']);
});
afterEach(async () => {
  await fetcher[Symbol.asyncDispose]();
  await dns[Symbol.asyncDispose]();
});

function fetcherOf(allowedNetworks: readonly string[], timeoutMs = 10_000): typeof fetcher {
  return createContentFetcher({
    sources: () => contentSources.parse({ allowedNetworks }),
    https: { timeoutMs, resolve: dns.resolve, ca: authority.certificate },
  });
}

const fetching = (uri: string, options: { maxBytes?: number; signal?: AbortSignal } = {}) =>
  fetcher.fetch(scope, uri, { maxBytes: 1_000, signal: new AbortController().signal, ...options });

const outcome = (uri: string, options?: { maxBytes?: number }) =>
  fetching(uri, options).then(
    (bytes) => Buffer.from(bytes).toString(),
    (error: { code: string }) => error.code,
  );

describe('https addresses', () => {
  test('content is fetched from a presigned URL with its query, and no header with a credential is sent', async () => {
    const requests: unknown[] = [];
    serve = ({ url, headers }, response) => {
      requests.push([url, Object.keys(headers).sort()]);
      response.writeHead(200, json).end(document);
    };
    expect(await outcome(`https://store.test:${port}/a%20b?X-Amz-Signature=1%2F2`)).toBe(document);
    expect(requests).toEqual([['/a%20b?X-Amz-Signature=1%2F2', ['accept', 'accept-encoding', 'connection', 'host']]]);
  });

  test.each([
    ['127.0.0.1'],
    ['127.1'],
    ['2130706433'],
    ['0x7f000001'],
    ['0x7f.1'],
    ['017700000001'],
    ['0'],
    ['0.0.0.0'],
    ['[::1]'],
    ['[::]'],
    ['[::ffff:127.0.0.1]'],
    ['[::ffff:7f00:1]'],
    ['[0:0:0:0:0:ffff:127.0.0.1]'],
    ['１２７.０.０.１'],
    ['127。0。0。1'],
    ['127.0.0.3'],
  ])('content at the host %s is refused before a byte is sent', async (host) => {
    expect(await outcome(`https://${host}:${port}/`)).toBe('address_refused');
    expect(reached).toEqual([]);
  });

  test.each([
    [['10.0.0.1']],
    [['192.168.1.1']],
    [['169.254.169.254']],
    [['100.64.0.1']],
    [['224.0.0.1']],
    [['0.0.0.0']],
    [['127.0.0.1']],
    [['127.0.0.2', '127.0.0.1']],
    [['127.0.0.1', '127.0.0.2']],
  ])('content at a host name that resolves to %j is refused before a byte is sent', async (addresses) => {
    dns.answers = [addresses];
    expect(await outcome(`https://store.test:${port}/`)).toBe('address_refused');
    expect(reached).toEqual([]);
  });

  test.each([
    ['http://store.test/'],
    ['ftp://store.test/'],
    ['file:///etc/passwd'],
    ['data:application/json,{}'],
    ['https:///'],
    ['nonsense'],
    [''],
    ['https://user@store.test/'],
    ['https://user:password@store.test/'],
  ])('the content address %j is refused', async (uri) => {
    expect(await outcome(uri)).toBe('address_refused');
    expect(dns.asked()).toBe(0);
  });

  test('no connection is made to an IP address that a host name resolves to only after the check', async () => {
    for (let round = 0; round < 25; round += 1) {
      dns.answers = [['127.0.0.2'], ['127.0.0.1']];
      const before = dns.asked();
      expect(await outcome(`https://store.test:${port}/`)).toBe(document);
      expect(dns.asked()).toBe(before + 1);
      expect(await outcome(`https://store.test:${port}/`)).toBe('address_refused');
    }
    expect(new Set(reached)).toEqual(new Set(['127.0.0.2']));
  });

  test('a redirect from a content address is refused and not followed', async () => {
    for (const location of [`https://store.test:${port}/other`, `https://127.0.0.1:${port}/`, '/other']) {
      serve = (_request, response) => response.writeHead(302, { location }).end();
      reached = [];
      expect(await outcome(`https://store.test:${port}/`)).toBe('address_refused');
      expect(reached).toHaveLength(1);
    }
  });

  test('content is read up to the size limit, with and without a content length', async () => {
    const bodyOf =
      (bytes: number, headers = json): Serve =>
      (_request, response) => {
        response.writeHead(200, headers);
        response.write('a'.repeat(bytes - 1));
        response.end('a');
      };
    const uri = `https://store.test:${port}/`;
    serve = bodyOf(1_000);
    expect(await outcome(uri)).toHaveLength(1_000);
    serve = bodyOf(1_001);
    expect(await outcome(uri)).toBe('too_large');
    serve = (_request, response) => response.writeHead(200, { ...json, 'content-length': 1_001 }).flushHeaders();
    expect(await outcome(uri)).toBe('too_large');
    serve = bodyOf(50_000_000);
    expect(await outcome(uri)).toBe('too_large');
  });

  test('compressed content is refused and never unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(10_000_000));
    serve = ({ headers }, response) => {
      expect(headers['accept-encoding']).toBe('identity');
      response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(bomb);
    };
    expect(await outcome(`https://store.test:${port}/`, { maxBytes: 1_000_000 })).toBe('malformed');
    serve = (_request, response) => response.writeHead(200, json).end(bomb);
    const bytes = await fetching(`https://store.test:${port}/`, { maxBytes: 1_000_000 });
    expect(bytes.byteLength).toBe(bomb.byteLength);
  });

  test.each<[string, Serve]>([
    ['sends no answer', () => undefined],
    ['sends headers only', (_request, response) => response.writeHead(200, json).flushHeaders()],
    [
      'sends a byte at a time',
      (_request, response) => {
        response.writeHead(200, json);
        const timer = setInterval(() => response.write(' '), 20);
        response.on('close', () => clearInterval(timer));
      },
    ],
    ['breaks the connection', ({ socket }) => void socket.destroy()],
  ])('a server that %s is unavailable after the timeout', async (_what, answer) => {
    await fetcher[Symbol.asyncDispose]();
    fetcher = fetcherOf(['127.0.0.2/32'], 500);
    serve = answer;
    expect(await outcome(`https://store.test:${port}/`)).toBe('dependency_unavailable');
  });

  test('a fetch of content is aborted with its job, and its connection is closed', async () => {
    let isClosed = false;
    serve = (request) => {
      request.socket.on('close', () => {
        isClosed = true;
      });
    };
    const ending = new AbortController();
    const fetched = fetching(`https://store.test:${port}/`, { signal: ending.signal });
    fetched.catch(() => undefined);
    await until('the request arrives', () => reached.length === 1);
    ending.abort(new Error('the lease is lost'));
    await expect(fetched).rejects.toThrow('the lease is lost');
    await until('the connection is closed', () => isClosed);
  });

  test('content is unavailable when the certificate of its server has another name or an unknown authority', async () => {
    expect(await outcome(`https://other.test:${port}/`)).toBe('dependency_unavailable');
    await fetcher[Symbol.asyncDispose]();
    const sources = contentSources.parse({ allowedNetworks: ['127.0.0.2/32'] });
    fetcher = createContentFetcher({ sources: () => sources, https: { resolve: dns.resolve } });
    expect(await outcome(`https://store.test:${port}/`)).toBe('dependency_unavailable');
    expect(reached).toEqual([]);
  });

  test('a network that is approved for one tenant is refused to every other one before a byte is sent', async () => {
    await fetcher[Symbol.asyncDispose]();
    const sources = contentSources.parse({ tenantNetworks: { [scope.tenant]: ['127.0.0.2/32'] } });
    fetcher = createContentFetcher({
      sources: () => sources,
      https: { resolve: dns.resolve, ca: authority.certificate },
    });
    const uri = `https://store.test:${port}/`;
    expect(await outcome(uri)).toBe(document);
    expect(reached).toHaveLength(1);
    const codes: unknown[] = [];
    for (const tenant of ['other', 'constructor', '__proto__']) {
      const limits = { maxBytes: 1_000, signal: new AbortController().signal };
      codes.push(await fetcher.fetch({ ...scope, tenant }, uri, limits).catch((error: { code: string }) => error.code));
    }
    expect(codes).toEqual(['address_refused', 'address_refused', 'address_refused']);
    expect(reached).toHaveLength(1);
  });

  test('content at a host name that does not resolve is unavailable', async () => {
    dns.answers = [[]];
    expect(await outcome(`https://store.test:${port}/`)).toBe('dependency_unavailable');
  });

  test('the error of a failed fetch names neither the content address nor its signature', async () => {
    for (const host of ['store.test', '127.0.0.1']) {
      serve = (_request, response) => response.writeHead(403).end('hunter2');
      const error = await fetching(`https://${host}:${port}/?X-Amz-Signature=hunter2`).catch((fault: unknown) => fault);
      const shown = JSON.stringify(error, Object.getOwnPropertyNames(error));
      for (const part of ['hunter2', host, String(port)])
        expect(shown.replace(/"stack":"[^"]*"/, '')).not.toContain(part);
    }
  });
});

describe.skipIf(minioProgram.missing !== undefined)(minioProgram.on('s3 addresses'), () => {
  test('s3 addresses are read only below the approved folders of the tenant, and never from staging', async () => {
    using folder = temporaryFolder();
    await using minio = await startMinio(folder.path);
    const [docs, staged] = [await minio.createBucket(), await minio.createBucket()];
    for (const [bucket, key] of [
      [docs, 'acme/a.json'],
      [docs, 'other/a.json'],
      [docs, 'acme2/a.json'],
      [docs, 'staging/t/1'],
      [staged, 'a'],
    ] as const) {
      await using store = await openS3Objects(minio.options, { bucket, prefix: '' });
      await store.put(key, Buffer.from(document));
    }
    using s3 = await createS3Client(minio.options);
    const sources = contentSources.parse({
      s3: {
        acme: [`s3://${docs}/acme/`, `s3://${docs}/staging/`, 's3://no-such-bucket/'],
        other: [`s3://${docs}/other/`],
      },
    });
    await fetcher[Symbol.asyncDispose]();
    fetcher = createContentFetcher({ sources: () => sources, s3, staging: { bucket: docs, key: 'staging/' } });
    expect(await outcome(`s3://${docs}/acme/a.json`)).toBe(document);
    expect(await outcome(`s3://${docs}/acme/a.json`, { maxBytes: document.length })).toBe(document);
    expect(await outcome(`s3://${docs}/acme/a.json`, { maxBytes: document.length - 1 })).toBe('too_large');
    expect(await outcome(`s3://${docs}/acme/absent.json`)).toBe('content_absent');
    expect(await outcome('s3://no-such-bucket/a.json')).toBe('content_absent');
    for (const uri of [
      `s3://${docs}/other/a.json`,
      `s3://${docs}/acme2/a.json`,
      `s3://${docs}/acme/../other/a.json`,
      `s3://${docs}/acme/`,
      `s3://${docs}/staging/t/1`,
      `s3://${staged}/a`,
      `s3://${docs.toUpperCase()}/acme/a.json`,
    ]) {
      expect([uri, await outcome(uri)]).toEqual([uri, 'address_refused']);
    }
    const foreign = { ...scope, tenant: 'constructor' };
    const limits = { maxBytes: 1_000, signal: new AbortController().signal };
    await expect(fetcher.fetch(foreign, `s3://${docs}/acme/a.json`, limits)).rejects.toMatchObject({
      code: 'address_refused',
    });
    await minio.end();
    expect(await outcome(`s3://${docs}/acme/a.json`)).toBe('dependency_unavailable');
  });
});
