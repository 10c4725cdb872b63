import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testProvider } from '#providers/test-provider';
import { createAuthority, openAuthority } from '../../../hack/cluster/certificates/authority.ts';

const now = new Date();
/** An authority that is not trusted. */
const strange = createAuthority(now);
const trusted = getCACertificates('default');
/** An authority that is valid today and has issued a certificate that is not. */
const root = createAuthority(now);
const past = openAuthority(root, new Date(now.getTime() - 400 * 86_400_000));

beforeAll(() => setDefaultCACertificates([...trusted, root.certificate]));
afterAll(() => setDefaultCACertificates(trusted));

async function serve({ certificate: cert, key }: { readonly certificate: string; readonly key: string }) {
  const server = createServer({ cert, key }, (_incoming, outgoing) => {
    outgoing.writeHead(200, { 'content-type': 'application/json' }).end('{"data":[{"id":"m"}]}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

const subject = { commonName: 'models' };
const tested = async (endpoint: string, timeoutMs = 10_000) => {
  const found = await testProvider({ name: 'p', kind: 'model', endpoint, enabled: true }, { timeoutMs, model: 'm' });
  return { cause: found.cause, failed: found.steps.find(({ state }) => state === 'failed')?.step };
};

test.each([
  ['signed by an unknown authority', strange.issueServer(subject, ['127.0.0.1']), 'certificate_untrusted'],
  ['expired', past.issueServer(subject, ['127.0.0.1']), 'certificate_expired'],
  ['for another host', root.issueServer(subject, ['models.example']), 'certificate_wrong_host'],
] as const)('a certificate that is %s fails the step tls with its own cause', async (_what, pair, cause) => {
  using server = await serve(pair);
  expect(await tested(`https://127.0.0.1:${server.port}/v1`)).toEqual({ cause, failed: 'tls' });
});

test('a provider with a valid certificate passes every step', async () => {
  using server = await serve(root.issueServer(subject, ['127.0.0.1']));
  expect(await tested(`https://127.0.0.1:${server.port}/v1`)).toEqual({ cause: undefined, failed: undefined });
});

test('a server that accepts connections and sends nothing causes a timeout of the handshake or of the answer', async () => {
  const silent = createTcpServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  expect(await tested(`https://127.0.0.1:${port}/v1`, 300)).toEqual({ cause: 'timeout', failed: 'tls' });
  expect(await tested(`http://127.0.0.1:${port}/v1`, 300)).toEqual({ cause: 'timeout', failed: 'http' });
  silent.close();
});
