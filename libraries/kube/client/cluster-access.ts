import { readFileSync } from 'node:fs';
import { openTokenFile, type TokenFile } from '#kit/http/token-file';
import { KubeError } from './kube-error.ts';

/** How requests prove who sends them. */
export type Credentials = {
  /**
   * The Authorization header of the next request; undefined where a client certificate alone says who sends it. An
   * error's message names the source, never the secret.
   */
  authorization(): string | undefined | Promise<string | undefined>;
  /** Told that the server took nothing of the last credentials, so that a source that keeps them asks for new ones. */
  refused?(): void;
};

/** PEM texts. */
export type ClientCertificate = { readonly cert: string; readonly key: string };

/** A value, or where it is read anew for each connection, so that a rotation needs no restart. */
export type Renewable<T> = T | (() => T);

/** Where an API server is and how to speak to it; `createClient` takes it as it is. */
export type ClusterAccess = {
  /** A path in it stands before every path of the API. */
  readonly url: string;
  /** The authorities that the server's certificate is held against; those of the system when absent. */
  readonly caPem?: Renewable<string> | undefined;
  /** The name in the server's certificate, where it is not the host of the address. */
  readonly serverName?: string | undefined;
  readonly credentials: Credentials;
  readonly clientCertificate?: Renewable<ClientCertificate | undefined> | undefined;
  /** The namespace of a kubeconfig's context. */
  readonly namespace?: string | undefined;
};

/** A bearer token out of a mounted file, which may be rotated at any time. */
export function tokenCredentials(tokenFile: Pick<TokenFile, 'first'>): Credentials {
  return { authorization: () => `Bearer ${tokenFile.first()}` };
}

export type MountedFiles = {
  readonly url: string;
  /** Holds the token of a service account. */
  readonly tokenFile: string;
  /** Holds the authorities of the server, PEM; those of the system when absent. */
  readonly caFile?: string | undefined;
};

/**
 * Access by mounted files, as a pod has it. Both are looked at again: kubelets rotate them.
 * @throws TokenFileError where there is no token, KubeError `unauthenticated` where the authorities cannot be read
 */
export function mountedAccess({ url, tokenFile, caFile }: MountedFiles): ClusterAccess {
  const credentials = tokenCredentials(openTokenFile(tokenFile));
  if (caFile === undefined) return { url, credentials };
  const caPem = (): string => readAuthorities(caFile);
  caPem();
  return { url, credentials, caPem };
}

function readAuthorities(path: string): string {
  try {
    const text = readFileSync(path, 'utf8');
    if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  } catch (cause) {
    throw new KubeError('unauthenticated', `the authorities in ${path} cannot be read`, {}, { cause });
  }
  throw new KubeError('unauthenticated', `${path} holds no certificate in PEM`);
}
