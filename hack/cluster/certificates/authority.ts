import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';
import {
  bitString,
  boolean,
  type Der,
  explicit,
  implicit,
  objectIdentifier,
  octetString,
  sequence,
  set,
  time,
  unsignedInteger,
  utf8String,
} from './der.ts';

/** A certificate and its private key (ECDSA on P-256), both PEM. */
export type KeyPair = { readonly certificate: string; readonly key: string };

export type CertificateSubject = {
  /** The certificate's common name, which Kubernetes uses as the user name. */
  readonly commonName: string;
  /** The certificate's organizations, which Kubernetes uses as the groups of the user. */
  readonly organizations?: readonly string[];
};

/**
 * A certificate authority. Its certificates are valid for some days, which is long enough for a cluster on one machine.
 */
export type Authority = {
  readonly certificate: string;
  readonly key: string;
  /** A certificate for a client. */
  readonly issueClient: (subject: CertificateSubject) => KeyPair;
  /**
   * Issues a certificate for a server that may also be a client of its peers. @param names the names and IP addresses
   * for which the certificate is valid
   */
  readonly issueServer: (subject: CertificateSubject, hosts: readonly string[]) => KeyPair;
};

const oids = {
  ecPublicKey: '1.2.840.10045.2.1',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAlternativeName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
} as const;

const dayMs = 86_400_000;
const validDays = 365;
/** The validity begins this long before the time of issue, to tolerate clock skew. */
const backdatedMs = 3_600_000;

function pem(label: string, der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

function nameOf({ commonName, organizations = [] }: CertificateSubject): Der {
  const attribute = (oid: string, value: string): Der => set(sequence(objectIdentifier(oid), utf8String(value)));
  const groups = organizations.map((organization) => attribute(oids.organization, organization));
  return sequence(...groups, attribute(oids.commonName, commonName));
}

function extension(oid: string, critical: boolean, value: Uint8Array): Der {
  const flag = critical ? [boolean(true)] : [];
  return sequence(objectIdentifier(oid), ...flag, octetString(value));
}

function generalName(host: string): Der {
  if (isIP(host) === 4) return implicit(7, Buffer.from(host.split('.').map(Number)));
  if (isIP(host) === 6) throw new Error('IPv6 addresses are not supported in certificates of local clusters');
  return implicit(2, Buffer.from(host, 'ascii'));
}

/** RFC 5280 4.2.1.2, method 1. */
function keyIdentifier(publicKey: Uint8Array): Buffer {
  return createHash('sha1').update(publicKey.subarray(-65)).digest();
}

type Body = {
  readonly subject: CertificateSubject;
  readonly issuer: CertificateSubject;
  readonly publicKey: Uint8Array;
  readonly issuerPublicKey: Uint8Array;
  readonly issuerKey: string;
  readonly usage: readonly Der[];
};

/** RFC 5280 4.1. */
function certificateOf({ subject, issuer, publicKey, issuerPublicKey, issuerKey, usage }: Body, now: Date): string {
  const algorithm = sequence(objectIdentifier(oids.ecdsaWithSha256));
  const begin = new Date(now.getTime() - backdatedMs);
  const end = new Date(now.getTime() + validDays * dayMs);
  const extensions = sequence(
    ...usage,
    extension(oids.subjectKeyIdentifier, false, octetString(keyIdentifier(publicKey))),
    extension(oids.authorityKeyIdentifier, false, sequence(implicit(0, keyIdentifier(issuerPublicKey)))),
  );
  const body = sequence(
    explicit(0, unsignedInteger(Buffer.from([2]))),
    unsignedInteger(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    algorithm,
    nameOf(issuer),
    sequence(time(begin), time(end)),
    nameOf(subject),
    publicKey,
    explicit(3, extensions),
  );
  return pem('CERTIFICATE', sequence(body, algorithm, bitString(sign('sha256', body, issuerKey))));
}

function newKey(): { readonly key: string; readonly publicKey: Buffer } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    // Private keys are written in the PEM format that Go servers and kubectl read.
    key: privateKey.export({ type: 'sec1', format: 'pem' }).toString(),
    publicKey: publicKey.export({ type: 'spki', format: 'der' }),
  };
}

// Bits of keyUsage (RFC 5280 4.2.1.3), from the left: 0 digitalSignature, 5 keyCertSign, 6 cRLSign.
const signs = extension(oids.keyUsage, true, bitString(Buffer.from([0x80]), 7));
const certifies = extension(oids.keyUsage, true, bitString(Buffer.from([0x06]), 1));
const isAuthority = extension(oids.basicConstraints, true, sequence(boolean(true)));
const isLeaf = extension(oids.basicConstraints, true, sequence());
const usedFor = (...purposes: readonly string[]): Der =>
  extension(oids.extendedKeyUsage, false, sequence(...purposes.map((purpose) => objectIdentifier(purpose))));

const authorityName: CertificateSubject = { commonName: 'local cluster' };

/** Makes a new authority. */
export function createAuthority(now = new Date()): Authority {
  const { key, publicKey } = newKey();
  const certificate = certificateOf(
    {
      subject: authorityName,
      issuer: authorityName,
      publicKey,
      issuerPublicKey: publicKey,
      issuerKey: key,
      usage: [certifies, isAuthority],
    },
    now,
  );
  return openAuthority({ certificate, key }, now);
}

/** Opens the authority of an earlier run from its certificate and key. */
export function openAuthority({ certificate, key }: KeyPair, now = new Date()): Authority {
  const issuerPublicKey = createPublicKey(createPrivateKey(key)).export({ type: 'spki', format: 'der' });
  const issue = (subject: CertificateSubject, usage: readonly Der[]): KeyPair => {
    const own = newKey();
    const body = { subject, issuer: authorityName, publicKey: own.publicKey, issuerPublicKey, issuerKey: key };
    return { key: own.key, certificate: certificateOf({ ...body, usage: [signs, isLeaf, ...usage] }, now) };
  };
  return {
    certificate,
    key,
    issueClient: (subject) => issue(subject, [usedFor(oids.clientAuth)]),
    issueServer: (subject, hosts) =>
      issue(subject, [
        usedFor(oids.serverAuth, oids.clientAuth),
        extension(oids.subjectAlternativeName, false, sequence(...hosts.map(generalName))),
      ]),
  };
}
