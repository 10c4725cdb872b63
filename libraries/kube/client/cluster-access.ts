import { readFileSync } from 'node:fs';
import { openTokenFile, type TokenFile } from '#kit/http/token-file';
import { KubeError } from './kube-error.ts';

/** Credentials of the requests to an API server. */
export type Credentials = {
  /**
   * The Authorization header of the next request; undefined when only a client certificate authenticates. The message of
   * an error names the source of the credentials, never a secret.
   */
  authorization(): string | undefined | Promise<string | undefined>;
  /** Called when the server answered 401, so that cached credentials are renewed. */
  rejected?(): void;
};

/** A client certificate and its key, as PEM texts. */
export type ClientCertificate = { readonly cert: string; readonly key: string };

/** A value, or a function that reads it for each connection, so that rotation needs no restart. */
export type Renewable<T> = T | (() => T);

/** Address, TLS settings and credentials of an API server, as `createClient` takes them. */
export type ClusterAccess = {
  /** URL of the API server. Its path is a prefix of every API path. */
  readonly url: string;
  /** CA certificates that verify the server; those of the system when absent. */
  readonly caPem?: Renewable<string> | undefined;
  /** The name in the server's certificate, if it differs from the host of the URL. */
  readonly serverName?: string | undefined;
  readonly credentials: Credentials;
  readonly clientCertificate?: Renewable<ClientCertificate | undefined> | undefined;
  /** The namespace of a kubeconfig's context. */
  readonly namespace?: string | undefined;
};

/** A bearer token from a mounted file that may be rotated at any time. */
export function tokenCredentials(tokenFile: Pick<TokenFile, 'first'>): Credentials {
  return { authorization: () => `Bearer ${tokenFile.first()}` };
}

type MountedFiles = {
  readonly url: string;
  /** Path of the service account token. */
  readonly tokenFile: string;
  /** Path of the CA certificates of the server, PEM; those of the system when absent. */
  readonly caFile?: string | undefined;
};

/**
 * Access with the files that a kubelet mounts into a pod. Both files are read again after they were rotated.
 * @throws TokenFileError when there is no token, KubeError `unauthenticated` when the CA certificates cannot be read
 */
export function mountedAccess({ url, tokenFile, caFile }: MountedFiles): ClusterAccess {
  const credentials = tokenCredentials(openTokenFile(tokenFile));
  if (caFile === undefined) return { url, credentials };
  const caPem = (): string => readCaCertificates(caFile);
  caPem();
  return { url, credentials, caPem };
}

function readCaCertificates(path: string): string {
  try {
    const text = readFileSync(path, 'utf8');
    if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  } catch (cause) {
    throw new KubeError('unauthenticated', `the CA certificates in ${path} cannot be read`, {}, { cause });
  }
  throw new KubeError('unauthenticated', `${path} contains no certificate in PEM`);
}
