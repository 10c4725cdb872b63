import { resolve } from 'node:path';
import { z } from 'zod';
import { readYamlFile } from '#environment/read-yaml-file';
import { ConfigError } from '#kit/env/config-error';
import type { TrustedIssuer } from './create-verifier.ts';

/** Most issuers of one installation; each has its own series of a metric. */
export const maxIssuers = 32;
const name = z.string().min(1).max(255);
const shared = {
  issuer: name,
  audience: name,
  groupsClaim: name.optional(),
  tenants: z.array(name).max(1_000).optional(),
  tenantsClaim: name.optional(),
  subjectIssuerClaim: name.optional(),
};

/** The trusted issuers. The keys of each are at a URL, or in a file whose path is relative to this file. */
const issuersFileSchema = z.strictObject({
  issuers: z
    .array(
      z.union([
        z.strictObject({ ...shared, jwksUrl: z.url({ protocol: /^https?$/ }).max(2_048) }),
        z.strictObject({ ...shared, jwksFile: z.string().min(1).max(4_096) }),
      ]),
    )
    .max(maxIssuers),
});

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
  return value.issuers.map(({ issuer, audience, groupsClaim, tenants, tenantsClaim, subjectIssuerClaim, ...keys }) => ({
    issuer,
    audience,
    jwks: 'jwksUrl' in keys ? new URL(keys.jwksUrl) : { file: resolve(path, '..', keys.jwksFile) },
    ...(groupsClaim === undefined ? {} : { groupsClaim }),
    ...(tenants === undefined ? {} : { tenants }),
    ...(tenantsClaim === undefined ? {} : { tenantsClaim }),
    ...(subjectIssuerClaim === undefined ? {} : { subjectIssuerClaim }),
  }));
}
