import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { type ClientOptions, createClient } from '#kube/client/client';
import { mountedAccess } from '#kube/client/cluster-access';
import { loadKubeconfig } from '#kube/client/credentials';
import { sampleReport } from '#kube/testing/sample-resources';
import { kinds } from '#resources/kinds';
import { createAuthority, type KeyPair } from '../../hack/cluster/certificates/authority.ts';
import { missingApiServer, onApiServer } from './open-api-server.ts';
import { useApiServer } from './shared-api-server.ts';

const kind = kinds.gatewayReport;
const report = sampleReport('one', { uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: 'now' });

type TlsServer = AsyncDisposable & {
  readonly url: string;
  readonly seen: readonly IncomingMessage[];
  handshakes(): number;
  /** Replaces the certificate and closes the connections that use the previous certificate. */
  rotate(pair: KeyPair): void;
};

/** A server that answers every request with one report. */
async function startTlsServer({ certificate, key }: KeyPair, clientAuthority?: string): Promise<TlsServer> {
  const seen: IncomingMessage[] = [];
  let handshakes = 0;
  const clients = clientAuthority === undefined ? {} : { requestCert: true, ca: clientAuthority };
  const server = createServer({ cert: certificate, key, ...clients }, (incoming, outgoing) => {
    seen.push(incoming);
    outgoing.writeHead(200).end(JSON.stringify(report));
  });
  server.on('secureConnection', () => {
    handshakes += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    handshakes: () => handshakes,
    rotate(pair) {
      server.setSecureContext({ cert: pair.certificate, key: pair.key });
      server.closeAllConnections();
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function connect(options: Partial<Omit<ClientOptions, 'namespace'>> & { readonly namespace?: string | undefined }) {
  const tokenFile = { first: () => 'secret' };
  const client = createClient({ namespace: 'team', tokenFile, ...options } as ClientOptions);
  onTestFinished(() => client[Symbol.asyncDispose]());
  return client;
}

const authority = createAuthority();
const pair = authority.issueServer({ commonName: 'api' }, ['127.0.0.1', 'kubernetes.default.svc']);
const caPem = authority.certificate;

describe('a client over TLS', () => {
  test('many sequential or concurrent requests need few TLS handshakes', async () => {
    await using server = await startTlsServer(pair);
    const client = connect({ url: server.url, caPem });
    for (let at = 0; at < 1_000; at += 1) await client.get(kind, 'one');
    // A second connection is opened when a request starts before the previous response is fully read.
    expect(server.handshakes()).toBeLessThanOrEqual(2);
    await Promise.all(Array.from({ length: 500 }, () => client.get(kind, 'one')));
    expect(server.handshakes()).toBeLessThanOrEqual(48);
    expect(server.seen).toHaveLength(1_500);
  });

  test.each([
    ['of an unknown CA', createAuthority().issueServer({ commonName: 'api' }, ['127.0.0.1'])],
    ['for another host', authority.issueServer({ commonName: 'api' }, ['somewhere.else'])],
  ])('no request is sent to a server with a certificate %s', async (_name, other) => {
    await using server = await startTlsServer(other);
    await expect(connect({ url: server.url, caPem }).get(kind, 'one')).rejects.toMatchObject({ code: 'network' });
    expect(server.seen).toEqual([]);
  });

  test('no request is sent to a server whose certificate the system does not trust', async () => {
    await using server = await startTlsServer(pair);
    await expect(connect({ url: server.url }).get(kind, 'one')).rejects.toMatchObject({ code: 'network' });
    expect(server.seen).toEqual([]);
  });

  test('the server certificate is verified for the configured server name', async () => {
    await using server = await startTlsServer(authority.issueServer({ commonName: 'api' }, ['kubernetes.default.svc']));
    const client = connect({ url: server.url, caPem, serverName: 'kubernetes.default.svc' });
    expect(await client.get(kind, 'one')).toBeDefined();
  });

  test('a client authenticates with a client certificate', async () => {
    await using server = await startTlsServer(pair, caPem);
    const { certificate: cert, key } = authority.issueClient({ commonName: 'somebody' });
    const credentials = { authorization: () => undefined };
    const client = connect({ url: server.url, caPem, clientCertificate: { cert, key }, credentials });
    await client.get(kind, 'one');
    expect(server.seen[0]?.headers).not.toHaveProperty('authorization');
    const socket = server.seen[0]?.socket as TLSSocket | undefined;
    expect(socket?.getPeerCertificate().subject.CN).toBe('somebody');
  });

  test('rotated mounted files are read again', async () => {
    using folder = temporaryFolder();
    const [tokenFile, caFile] = [join(folder.path, 'token'), join(folder.path, 'ca.crt')];
    writeFileSync(tokenFile, 'first');
    writeFileSync(caFile, caPem);
    await using server = await startTlsServer(pair);
    const client = connect(mountedAccess({ url: server.url, tokenFile, caFile }));
    await client.get(kind, 'one');
    const next = createAuthority();
    server.rotate(next.issueServer({ commonName: 'api' }, ['127.0.0.1']));
    await expect(until('the connection is new', () => client.get(kind, 'one'), { deadlineMs: 500 })).rejects.toThrow();
    writeFileSync(caFile, `${caPem}${next.certificate}`);
    writeFileSync(tokenFile, 'second\n');
    await until('the new token is sent', async () => {
      await client.get(kind, 'one');
      return server.seen.at(-1)?.headers.authorization === 'Bearer second';
    });
    expect(server.seen[0]?.headers.authorization).toBe('Bearer first');
  });

  test.each([
    ['is not there', undefined],
    ['holds no certificate', 'nothing'],
  ])('access with a CA file that %s is refused', (_name, text) => {
    using folder = temporaryFolder();
    const [tokenFile, caFile] = [join(folder.path, 'token'), join(folder.path, 'ca.crt')];
    writeFileSync(tokenFile, 'first');
    if (text !== undefined) writeFileSync(caFile, text);
    expect(() => mountedAccess({ url: 'https://127.0.0.1:1', tokenFile, caFile })).toThrow(/ca\.crt/);
  });
});

describe.skipIf(missingApiServer !== undefined)(onApiServer('access to an API server'), () => {
  const server = useApiServer();

  test('a pod authenticates with the token of its service account', async () => {
    const { namespace } = await server.client();
    const scope = ['--namespace', namespace];
    await server.kubectl(...scope, 'create', 'serviceaccount', 'operator');
    using folder = temporaryFolder();
    const tokenFile = join(folder.path, 'token');
    const newToken = (): Promise<string> => server.kubectl(...scope, 'create', 'token', 'operator');
    writeFileSync(tokenFile, (await newToken()).trim());
    const { url, caFile } = server.controlPlane;
    const client = connect({ ...mountedAccess({ url, tokenFile, caFile }), namespace });
    await expect(client.list(kind)).rejects.toMatchObject({ code: 'forbidden' });
    const account = `--serviceaccount=${namespace}:operator`;
    await server.kubectl(...scope, 'create', 'rolebinding', 'admin', '--clusterrole=cluster-admin', account);
    await until('the right is granted', () => client.list(kind));
    writeFileSync(tokenFile, 'no-token');
    await until('the token is refused', async () => {
      const error: unknown = await client.list(kind).catch((caught: unknown) => caught);
      return (error as { code?: string }).code === 'unauthenticated';
    });
    writeFileSync(tokenFile, await newToken());
    await until('the new token is accepted', () => client.list(kind));
  });

  test('a user authenticates with the client certificate of a kubeconfig', async () => {
    const { namespace } = await server.client();
    const person = await loadKubeconfig({ file: server.controlPlane.kubeconfigFor('somebody') });
    await expect(connect({ ...person, namespace }).list(kind)).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('"somebody"'),
    });
  });
});
