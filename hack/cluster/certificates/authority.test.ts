import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { createAuthority, type KeyPair, openAuthority } from './authority.ts';

const authority = createAuthority();
const parse = ({ certificate }: { certificate: string }): X509Certificate => new X509Certificate(certificate);

describe('an authority', () => {
  test('a certificate authority is self-signed and may sign other certificates', () => {
    const own = parse(authority);
    expect(own.ca).toBe(true);
    expect(own.verify(own.publicKey)).toBe(true);
    expect(own.checkIssued(own)).toBe(true);
  });

  test('a certificate authority issues certificates that are valid now, expire, and may not sign others', () => {
    const leaf = parse(authority.issueClient({ commonName: 'anna' }));
    expect(leaf.ca).toBe(false);
    expect(leaf.checkIssued(parse(authority))).toBe(true);
    expect(leaf.verify(parse(authority).publicKey)).toBe(true);
    expect(leaf.validFromDate.getTime()).toBeLessThan(Date.now());
    expect(leaf.validToDate.getTime()).toBeGreaterThan(Date.now());
  });

  test('a certificate has the user and groups in the fields that Kubernetes reads', () => {
    const leaf = parse(authority.issueClient({ commonName: 'anna', organizations: ['editors', 'viewers'] }));
    expect(leaf.subject.split('\n')).toEqual(['O=editors', 'O=viewers', 'CN=anna']);
  });

  test('a certificate authority gives every certificate a unique serial number', () => {
    const one = parse(authority.issueClient({ commonName: 'anna' }));
    const other = parse(authority.issueClient({ commonName: 'anna' }));
    expect(one.serialNumber).not.toBe(other.serialNumber);
  });

  test('a certificate authority that is opened from its files issues certificates of the same chain', () => {
    const again = openAuthority({ certificate: authority.certificate, key: authority.key });
    expect(parse(again.issueClient({ commonName: 'boris' })).verify(parse(authority).publicKey)).toBe(true);
  });

  test("two certificate authorities do not trust each other's certificates", () => {
    expect(parse(createAuthority().issueClient({ commonName: 'anna' })).verify(parse(authority).publicKey)).toBe(false);
  });
});

/**
 * Connects a client to a server. Returns whether they trust each other, and the client identity that the server
 * received.
 */
async function meet(server: KeyPair, client: KeyPair, host: string): Promise<string | undefined> {
  const ca = authority.certificate;
  const listener = createServer({ ...pemOf(server), ca, requestCert: true, rejectUnauthorized: true });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as { port: number };
  const socket = connect({ ...pemOf(client), ca, host: '127.0.0.1', port, servername: host });
  try {
    const seen = once(listener, 'secureConnection') as Promise<[TLSSocket]>;
    const failed = once(socket, 'secureConnect').then(() => seen);
    const [peer] = await Promise.race([failed, once(listener, 'tlsClientError').then(() => [undefined] as const)]);
    return peer?.getPeerCertificate().subject.CN as string | undefined;
  } finally {
    socket.destroy();
    listener.close();
  }
}

const pemOf = ({ certificate, key }: KeyPair): { cert: string; key: string } => ({ cert: certificate, key });

describe('TLS with issued certificates', () => {
  const server = authority.issueServer({ commonName: 'server' }, ['localhost', 'kubernetes.default.svc', '127.0.0.1']);
  const client = authority.issueClient({ commonName: 'anna' });

  test.each(['localhost', 'kubernetes.default.svc'])('a TLS server is trusted under its name %s', async (host) => {
    expect(await meet(server, client, host)).toBe('anna');
  });

  test('a TLS server is not trusted under another name', async () => {
    await expect(meet(server, client, 'elsewhere')).rejects.toThrow(/altnames/);
  });

  test('a TLS server is trusted for its IP address and no other', () => {
    expect(parse(server).checkIP('127.0.0.1')).toBe('127.0.0.1');
    expect(parse(server).checkIP('127.0.0.2')).toBeUndefined();
  });

  test('a TLS server refuses a client certificate of another authority', async () => {
    expect(await meet(server, createAuthority().issueClient({ commonName: 'eve' }), 'localhost')).toBeUndefined();
  });
});
