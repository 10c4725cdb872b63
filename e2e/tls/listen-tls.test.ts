import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { type ListenOptions, listen } from '#kit/http/listen';
import { type TlsPair, TlsPairError } from '#kit/http/tls-pair';
import { until } from '#kit/testing/until';
import { createAuthority } from '../../hack/cluster/certificates/authority.ts';
import { type MountedPair, mountPair } from './mounted-pair.ts';
import { askTls, newPair, openTls, readToEnd, serialOf } from './tls-client.ts';

const limits = { host: '127.0.0.1', port: 0, headersTimeoutMs: 60_000, keepAliveTimeoutMs: 60_000 };

/** A server that holds requests for /held until the test answers them. */
async function serve(mount: MountedPair, options: Partial<ListenOptions> = {}) {
  const read: (TlsPair | TlsPairError)[] = [];
  const held: ServerResponse[] = [];
  const server = await listen({
    ...limits,
    maxHeaderBytes: 4_096,
    ...options,
    handler(incoming, outgoing) {
      if (incoming.url === '/held') held.push(outgoing);
      else outgoing.end('ok');
    },
    tls: { ...mount, everyMs: 10, onRead: (one) => void read.push(one) },
  });
  return {
    ...server,
    read,
    async nextHeld(): Promise<ServerResponse> {
      return until('a request is held', () => held.shift());
    },
  };
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`;

test('a certificate that is replaced under load is served to new connections, and no request fails', async () => {
  const [first, second] = [newPair(), newPair()];
  using mount = mountPair(first);
  await using server = await serve(mount);
  const kept = await openTls(server.port);
  kept.write(get('/held'));
  const answer = await server.nextHeld();
  answer.writeHead(200, { 'content-length': 8 }).write('half');
  const serials: string[] = [];
  let isOver = false;
  const client = async (): Promise<void> => {
    while (!isOver) {
      const { status, serial } = await askTls(server.url);
      expect(status).toBe(200);
      serials.push(serial);
    }
  };
  const load = Promise.all([client(), client(), client(), client()]);
  await Promise.race([load, until('the first certificate is served', () => serials.length > 20)]);
  expect(new Set(serials)).toEqual(new Set([serialOf(first)]));
  mount.swap(second);
  await Promise.race([load, until('the second certificate is served', () => serials.includes(serialOf(second)))]);
  const before = serials.length;
  await Promise.race([load, until('more requests', () => serials.length > before + 20)]);
  isOver = true;
  await load;
  expect(new Set(serials.slice(before + 4))).toEqual(new Set([serialOf(second)]));
  expect(server.read.map((one) => (one instanceof TlsPairError ? one.code : one.serial))).toEqual([
    serialOf(first),
    serialOf(second),
  ]);
  // The connection from before the change is not cut.
  answer.end('half');
  const [bytes] = (await once(kept, 'data')) as [Buffer];
  kept.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
  expect(`${bytes}${await readToEnd(kept)}`).toMatch(/halfhalf[\s\S]*\r\n\r\nok$/);
});

test.each([
  [
    'half of the certificate',
    (pair) => ({ ...pair, certificate: pair.certificate.slice(0, 200) }),
    'certificate_invalid',
  ],
  ['half of the key', (pair) => ({ ...pair, key: pair.key.slice(0, 60) }), 'key_invalid'],
  ['an empty key', (pair) => ({ ...pair, key: '' }), 'key_invalid'],
  ['the key of another certificate', (pair) => ({ ...pair, key: newPair().key }), 'mismatch'],
] as const satisfies [string, (pair: ReturnType<typeof newPair>) => ReturnType<typeof newPair>, string][])(
  'a change to %s keeps the previous certificate in use and is reported once, and the next complete pair is served',
  async (_name, broken, code) => {
    const [first, second] = [newPair(), newPair()];
    using mount = mountPair(first);
    await using server = await serve(mount);
    mount.swap(broken(second));
    const reported = await until('the error is reported', () => server.read[1]);
    expect(reported).toBeInstanceOf(TlsPairError);
    expect((reported as TlsPairError).code).toBe(code);
    expect((reported as TlsPairError).message).not.toContain('-----');
    for (let count = 0; count < 5; count += 1) {
      expect(await askTls(server.url)).toEqual({ status: 200, body: 'ok', serial: serialOf(first) });
    }
    mount.swap(second);
    await until('the whole pair is read', () => server.read.length > 2);
    expect(server.read).toHaveLength(3);
    expect(await askTls(server.url)).toEqual({ status: 200, body: 'ok', serial: serialOf(second) });
  },
);

test.each([
  [
    'no certificate',
    (mount: MountedPair) => ({ certificateFile: '/none/tls.crt', keyFile: mount.keyFile }),
    'certificate_unreadable',
  ],
  [
    'no key',
    (mount: MountedPair) => ({ certificateFile: mount.certificateFile, keyFile: '/none/tls.key' }),
    'key_unreadable',
  ],
  [
    'files in the wrong order',
    (mount: MountedPair) => ({ certificateFile: mount.keyFile, keyFile: mount.certificateFile }),
    'certificate_invalid',
  ],
  [
    'a certificate as its key',
    (mount: MountedPair) => ({ certificateFile: mount.certificateFile, keyFile: mount.certificateFile }),
    'key_invalid',
  ],
  [
    'a key of another certificate',
    (mount: MountedPair) => ({
      certificateFile: mount.certificateFile,
      keyFile: mount.file('other.key', newPair().key),
    }),
    'mismatch',
  ],
] as const)('a server does not listen with %s', async (_name, files, code) => {
  using mount = mountPair(newPair());
  const onRead = () => undefined;
  const options = { ...limits, maxHeaderBytes: 4_096, handler: () => undefined };
  await expect(listen({ ...options, tls: { ...files(mount), onRead } })).rejects.toMatchObject({
    name: 'TlsPairError',
    code,
  });
});

test('a server sends the certificates of authorities after the first one', async () => {
  const pair = newPair();
  const intermediate = createAuthority().certificate;
  using mount = mountPair({ ...pair, certificate: `${pair.certificate}${intermediate}` });
  await using server = await serve(mount);
  expect(await askTls(server.url)).toMatchObject({ status: 200, serial: serialOf(pair) });
  mount.swap({
    ...pair,
    certificate: `${pair.certificate}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`,
  });
  const reported = await until('the error is reported', () => server.read[1]);
  expect(reported).toMatchObject({ code: 'certificate_invalid' });
});

test('a server accepts TLS 1.2 and 1.3, and refuses TLS 1.1 and plain HTTP', async () => {
  using mount = mountPair(newPair());
  await using server = await serve(mount);
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const socket = await openTls(server.port, { minVersion: version, maxVersion: version });
    expect(socket.getProtocol()).toBe(version);
    socket.destroy();
  }
  const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
  await expect(openTls(server.port, old)).rejects.toMatchObject({
    code: expect.stringMatching(/^ERR_SSL_|ECONNRESET/),
  });
  const plain = connect(server.port, '127.0.0.1').on('error', () => undefined);
  plain.write(get('/'));
  let received = '';
  plain.on('data', (part) => {
    received += part;
  });
  await once(plain, 'close');
  expect(received).not.toContain('HTTP/1.1 200');
  expect(server.url).toMatch(/^https:/);
});

test('a drain over TLS answers requests in flight and ends idle connections and open handshakes immediately', async () => {
  using mount = mountPair(newPair());
  const server = await serve(mount);
  const silent = connect(server.port, '127.0.0.1').on('error', () => undefined);
  await once(silent, 'connect');
  const idle = await openTls(server.port);
  const used = await openTls(server.port);
  used.write(get('/'));
  await once(used, 'data');
  const busy = await openTls(server.port);
  busy.write(get('/held'));
  const answer = await server.nextHeld();
  const drained = server.drain({ graceMs: 600_000 });
  await Promise.all([once(silent, 'close'), readToEnd(idle), readToEnd(used)]);
  answer.end('late');
  expect(await readToEnd(busy)).toMatch(/connection: close[\s\S]*late/i);
  await drained;
});

test('over TLS large and slow headers are answered 431 and 408, and a slow handshake is ended', async () => {
  using mount = mountPair(newPair());
  await using server = await serve(mount);
  const large = await openTls(server.port);
  large.write(`GET / HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(5_000)}\r\n\r\n`);
  expect(await readToEnd(large)).toMatch(/^HTTP\/1.1 431 /);
  await using hasty = await serve(mount, { headersTimeoutMs: 200 });
  const slow = await openTls(hasty.port);
  slow.write('GET / HTTP/1.1\r\n');
  expect(await readToEnd(slow)).toMatch(/^HTTP\/1.1 408 /);
  const shakes = connect(hasty.port, '127.0.0.1').on('error', () => undefined);
  await once(shakes, 'close');
});
