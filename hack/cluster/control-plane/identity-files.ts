import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Authority,
  type CertificateSubject,
  createAuthority,
  type KeyPair,
  openAuthority,
} from '../certificates/authority.ts';
import type { ClientFiles } from '../process/ask.ts';

/**
 * Keys and certificates of one local cluster. All come from one authority, because one person runs the whole cluster.
 */
export type IdentityFiles = {
  readonly folder: string;
  readonly caFile: string;
  /** Certificate of every server of the control plane; also a valid client certificate for etcd. */
  readonly serverFile: string;
  readonly serverKeyFile: string;
  /** Key that signs the tokens of service accounts. */
  readonly serviceAccountKeyFile: string;
  /** Client certificate of an administrator with all rights. */
  readonly admin: ClientFiles;
  /** Issues a client certificate and writes its files; existing files are kept. */
  readonly client: (file: string, subject: CertificateSubject) => ClientFiles;
  readonly issueClient: (subject: CertificateSubject) => KeyPair;
};

function writeSecret(path: string, text: string): void {
  writeFileSync(path, text, { mode: 0o600 });
}

function openOrCreate(folder: string): Authority {
  const certificateFile = join(folder, 'ca.crt');
  const keyFile = join(folder, 'ca.key');
  if (existsSync(certificateFile)) {
    return openAuthority({ certificate: readFileSync(certificateFile, 'utf8'), key: readFileSync(keyFile, 'utf8') });
  }
  const authority = createAuthority();
  writeSecret(keyFile, authority.key);
  writeFileSync(certificateFile, authority.certificate);
  return authority;
}

/**
 * Opens the keys and certificates of a cluster and creates missing ones. @param hosts names and IPv4 addresses by which
 * clients reach the servers
 */
export function identityFiles(clusterFolder: string, hosts: readonly string[]): IdentityFiles {
  const folder = join(clusterFolder, 'pki');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const authority = openOrCreate(folder);
  const caFile = join(folder, 'ca.crt');
  const write = (file: string, issue: () => KeyPair): ClientFiles => {
    const files = { caFile, certificateFile: join(folder, `${file}.crt`), keyFile: join(folder, `${file}.key`) };
    if (!existsSync(files.certificateFile)) {
      const { certificate, key } = issue();
      writeSecret(files.keyFile, key);
      writeFileSync(files.certificateFile, certificate);
    }
    return files;
  };
  const client = (file: string, subject: CertificateSubject): ClientFiles =>
    write(file, () => authority.issueClient(subject));
  const server = write('server', () => authority.issueServer({ commonName: 'control-plane' }, hosts));
  const serviceAccountKeyFile = join(folder, 'service-accounts.key');
  if (!existsSync(serviceAccountKeyFile)) {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    writeSecret(serviceAccountKeyFile, privateKey.export({ type: 'sec1', format: 'pem' }).toString());
  }
  return {
    folder,
    caFile,
    serverFile: server.certificateFile,
    serverKeyFile: server.keyFile,
    serviceAccountKeyFile,
    admin: client('admin', { commonName: 'admin', organizations: ['system:masters'] }),
    client,
    issueClient: authority.issueClient,
  };
}
