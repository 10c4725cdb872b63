import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

type Kubectl = (args: readonly string[]) => Promise<string>;

/** What a token of an account is asked for. */
export const audience = 'portcullis';

/**
 * Values by which the management API takes tokens of the cluster's own accounts, as docs/install-on-kubernetes.md has
 * it: the issuer and its keys as the API server tells them, one account as the first administrator.
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
  const management = { issuers: [{ issuer, audience, jwks }], administrators: [{ issuer, subject }] };
  const file = join(folder, 'trust.json');
  writeFileSync(file, JSON.stringify({ management }));
  return file;
}
