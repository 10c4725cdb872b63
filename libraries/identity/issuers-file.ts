import { resolve } from 'node:path';
import { z } from 'zod';
import { readYamlFile } from '#environment/read-yaml-file';
import { ConfigError } from '#kit/env/config-error';
import type { TrustedIssuer } from './create-verifier.ts';

/** Maximum number of issuers of one installation, because each issuer has its own metric series. */
export const maxIssuers = 32;
const name = z.string().min(1).max(255);
/**
 * The address of keys: without TLS another party could replace the keys on the network, so that http is allowed on
 * loopback only.
 */
const keysUrl = z
  .url({ protocol: /^https?$/ })
  .max(2_048)
  .refine(isProtected, 'must be an https URL, or http on loopback');
/** Keys of a service of the same cluster, whose connections transfer the tokens without TLS as well. */
const serviceKeysUrl = z
  .url({ protocol: /^https?$/ })
  .max(2_048)
  .refine(isClusterService, 'must name a service of the cluster: SERVICE.NAMESPACE.svc');
const shared = {
  issuer: name,
  audience: name,
  groupsClaim: name.optional(),
  tenants: z.array(name).max(1_000).optional(),
  tenantsClaim: name.optional(),
  subjectIssuerClaim: name.optional(),
  maxAgeSeconds: z.int().min(1).max(31_536_000).optional(),
  authorizedParties: z.array(name).min(1).max(100).optional(),
  scope: z
    .string()
    .regex(/^[!#-[\]-~]{1,255}$/)
    .optional(),
  accessTokensOnly: z.boolean().optional(),
};

function isProtected(text: string): boolean {
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || ['localhost', '[::1]'].includes(hostname) || /^127(\.\d{1,3}){3}$/.test(hostname);
}

/** A name below svc, which only the DNS of a cluster has. */
function isClusterService(text: string): boolean {
  return /^[a-z0-9-]+\.[a-z0-9-]+\.svc$/.test(new URL(text).hostname);
}

/** The trusted issuers. The keys of each are at a URL, or in a file whose path is relative to this file. */
const issuersFileSchema = z.strictObject({
  issuers: z
    .array(
      z.union([
        z.strictObject({ ...shared, jwksUrl: keysUrl }),
        z.strictObject({ ...shared, serviceJwksUrl: serviceKeysUrl }),
        z.strictObject({ ...shared, jwksFile: z.string().min(1).max(4_096) }),
      ]),
    )
    .max(maxIssuers),
});

type IssuerEntry = z.output<typeof issuersFileSchema>['issuers'][number];

/**
 * An empty list trusts no issuer: every token is refused.
 * @throws ConfigError with a sentence for every problem
 */
export async function readIssuersFile(path: string): Promise<readonly TrustedIssuer[]> {
  const { value, problems } = await readYamlFile(path, issuersFileSchema, undefined);
  const names = (value?.issuers ?? []).map(({ issuer }) => issuer);
  const twice = [...new Set(names.filter((name, at) => names.indexOf(name) !== at))];
  const all = [...problems, ...twice.map((name) => `${path}: the issuer ${name} is listed twice`)];
  if (value === undefined || all.length > 0) throw new ConfigError(all);
  return value.issuers.map((entry) => trustedIssuer(path, entry));
}

function trustedIssuer(
  file: string,
  {
    issuer,
    audience,
    groupsClaim,
    tenants,
    tenantsClaim,
    subjectIssuerClaim,
    maxAgeSeconds,
    authorizedParties,
    scope,
    accessTokensOnly,
    ...keys
  }: IssuerEntry,
): TrustedIssuer {
  const tokens = { maxAgeSeconds, authorizedParties, scope, accessTokensOnly };
  return {
    issuer,
    audience,
    jwks: 'jwksFile' in keys ? { file: resolve(file, '..', keys.jwksFile) } : new URL(urlOf(keys)),
    ...(Object.values(tokens).every((one) => one === undefined) ? {} : { tokens }),
    ...(groupsClaim === undefined ? {} : { groupsClaim }),
    ...(tenants === undefined ? {} : { tenants }),
    ...(tenantsClaim === undefined ? {} : { tenantsClaim }),
    ...(subjectIssuerClaim === undefined ? {} : { subjectIssuerClaim }),
  };
}

function urlOf(keys: { readonly jwksUrl: string } | { readonly serviceJwksUrl: string }): string {
  return 'jwksUrl' in keys ? keys.jwksUrl : keys.serviceJwksUrl;
}
