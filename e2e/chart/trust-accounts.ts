import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

type Kubectl = (args: readonly string[]) => Promise<string>;

/** Audience of the requested ServiceAccount tokens. */
export const accountAudience = 'portcullis';

/**
 * Values with which the management API accepts ServiceAccount tokens of the cluster, as in
 * docs/install-on-kubernetes.md: issuer and keys come from the API server, and one account is the first administrator.
 * @returns the path of the values file
 */
export async function trustAccounts(
  kubectl: Kubectl,
  options: { readonly folder: string; readonly namespace: string; readonly administrator: string },
): Promise<string> {
  const { folder, namespace, administrator } = options;
  const { issuer } = JSON.parse(await kubectl(['get', '--raw', '/.well-known/openid-configuration'])) as {
    readonly issuer: string;
  };
  const jwks = JSON.parse(await kubectl(['get', '--raw', '/openid/v1/jwks'])) as object;
  const subject = `system:serviceaccount:${namespace}:${administrator}`;
  const management = { issuers: [{ issuer, audience: accountAudience, jwks }], administrators: [{ issuer, subject }] };
  const file = join(folder, 'trust.json');
  writeFileSync(file, JSON.stringify({ management }));
  return file;
}
