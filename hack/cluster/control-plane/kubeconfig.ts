import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { CertificateSubject, KeyPair } from '../certificates/authority.ts';
import type { ClientFiles } from '../process/ask.ts';
import type { IdentityFiles } from './identity-files.ts';

type KubeconfigOptions = {
  /** Name of the cluster and of the context. */
  readonly name: string;
  readonly url: string;
  readonly user: string;
  /** PEM of the authority that the server's certificate comes from. */
  readonly authority: string;
  readonly client: KeyPair;
};

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** A kubeconfig with everything inside: it works from any folder. */
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

/** Writes the kubeconfig of a client whose files exist; only the owner may read it. */
export function writeKubeconfig(
  path: string,
  options: Omit<KubeconfigOptions, 'authority' | 'client'>,
  files: ClientFiles,
) {
  const authority = readFileSync(files.caFile, 'utf8');
  const client = { certificate: readFileSync(files.certificateFile, 'utf8'), key: readFileSync(files.keyFile, 'utf8') };
  writeFileSync(path, kubeconfigOf({ ...options, authority, client }), { mode: 0o600 });
}

/** The kubeconfig of a component with a certificate of its own, both written by `write`. */
export function componentKubeconfig(
  { identities, apiServerUrl }: { readonly identities: IdentityFiles; readonly apiServerUrl: string },
  name: string,
  subject: CertificateSubject,
): { readonly path: string; readonly write: () => void } {
  const path = join(identities.folder, `${name}.kubeconfig`);
  const options = { name: 'local', url: apiServerUrl, user: subject.commonName };
  return { path, write: () => writeKubeconfig(path, options, identities.client(name, subject)) };
}
