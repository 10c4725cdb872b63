import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { CertificateSubject, KeyPair } from '../certificates/authority.ts';
import type { ClientFiles } from '../process/ask.ts';
import type { IdentityFiles } from './identity-files.ts';

type KubeconfigOptions = {
  /** Name of the cluster and of the context in a kubeconfig. */
  readonly name: string;
  readonly url: string;
  readonly user: string;
  /** Certificate authority of the server's certificate, PEM. */
  readonly authority: string;
  readonly client: KeyPair;
};

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** A kubeconfig that contains its certificates and keys, so that it works from any folder. */
export function kubeconfigOf({ name, url, user, authority, client }: KubeconfigOptions): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server: url, 'certificate-authority-data': base64(authority) } }],
    users: [
      {
        name: user,
        user: { 'client-certificate-data': base64(client.certificate), 'client-key-data': base64(client.key) },
      },
    ],
    contexts: [{ name, context: { cluster: name, user } }],
    'current-context': name,
  });
}

/** Writes a kubeconfig for a client whose certificate files exist; only the file's owner may read it. */
export function writeKubeconfig(
  path: string,
  options: Omit<KubeconfigOptions, 'authority' | 'client'>,
  files: ClientFiles,
) {
  const authority = readFileSync(files.caFile, 'utf8');
  const client = { certificate: readFileSync(files.certificateFile, 'utf8'), key: readFileSync(files.keyFile, 'utf8') };
  writeFileSync(path, kubeconfigOf({ ...options, authority, client }), { mode: 0o600 });
}

/** Issues a client certificate for a component and writes a kubeconfig with it. */
export function componentKubeconfig(
  { identities, apiServerUrl }: { readonly identities: IdentityFiles; readonly apiServerUrl: string },
  name: string,
  subject: CertificateSubject,
): { readonly path: string; readonly write: () => void } {
  const path = join(identities.folder, `${name}.kubeconfig`);
  const options = { name: 'local', url: apiServerUrl, user: subject.commonName };
  return { path, write: () => writeKubeconfig(path, options, identities.client(name, subject)) };
}
