import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { createAuthority, type KeyPair, openAuthority } from './authority.ts';

const authority = createAuthority();
const parse = ({ certificate }: { certificate: string }): X509Certificate => new X509Certificate(certificate);

describe('an authority', () => {
  test('signs itself and may sign others', () => {
    const own = parse(authority);
    expect(own.ca).toBe(true);
    expect(own.verify(own.publicKey)).toBe(true);
    expect(own.checkIssued(own)).toBe(true);
  });

  test('issues certificates that are no authority, hold now, and end', () => {
    const leaf = parse(authority.issueClient({ commonName: 'anna' }));
    expect(leaf.ca).toBe(false);
    expect(leaf.checkIssued(parse(authority))).toBe(true);
    expect(leaf.verify(parse(authority).publicKey)).toBe(true);
    expect(leaf.validFromDate.getTime()).toBeLessThan(Date.now());
    expect(leaf.validToDate.getTime()).toBeGreaterThan(Date.now());
  });

  test('writes user and groups where Kubernetes reads them', () => {
    const leaf = parse(authority.issueClient({ commonName: 'anna', organizations: ['editors', 'viewers'] }));
    expect(leaf.subject.split('\n')).toEqual(['O=editors', 'O=viewers', 'CN=anna']);
  });

  test('gives every certificate its own number', () => {
    const one = parse(authority.issueClient({ commonName: 'anna' }));
    const other = parse(authority.issueClient({ commonName: 'anna' }));
    expect(one.serialNumber).not.toBe(other.serialNumber);
  });

  test('opened from its files issues certificates of the same chain', () => {
    const again = openAuthority({ certificate: authority.certificate, key: authority.key });
    expect(parse(again.issueClient({ commonName: 'boris' })).verify(parse(authority).publicKey)).toBe(true);
  });

  test('has nothing to do with another authority', () => {
    expect(parse(createAuthority().issueClient({ commonName: 'anna' })).verify(parse(authority).publicKey)).toBe(false);
  });
});

/** Whether both sides accept each other, and whom the server saw. */
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

describe('over TLS', () => {
  const server = authority.issueServer({ commonName: 'server' }, ['localhost', 'kubernetes.default.svc', '127.0.0.1']);
  const client = authority.issueClient({ commonName: 'anna' });

  test.each(['localhost', 'kubernetes.default.svc'])('a server is believed under its name %s', async (host) => {
    expect(await meet(server, client, host)).toBe('anna');
  });

  test('a server is not believed under another name', async () => {
    await expect(meet(server, client, 'elsewhere')).rejects.toThrow(/altnames/);
  });

  test('a server answers for its IP address and no other', () => {
    expect(parse(server).checkIP('127.0.0.1')).toBe('127.0.0.1');
    expect(parse(server).checkIP('127.0.0.2')).toBeUndefined();
  });

  test('a server does not take the certificate of another authority', async () => {
    expect(await meet(server, createAuthority().issueClient({ commonName: 'eve' }), 'localhost')).toBeUndefined();
  });
});
