import { existsSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import type { DataDirectory } from '#contracts/data-directory';
import { serviceAudiences } from '#identity/service-token';
import { writeAtomic } from '#kit/files/write-atomic';
import { agentIssuer, developmentIssuer } from '../platform/development-issuer.ts';
import { findLastingPort } from './free-port.ts';

/** The entry of the development issuer; the management API validates the whole file. */
const fileSchema = z.looseObject({
  issuers: z.array(z.looseObject({ issuer: z.string(), jwksUrl: z.url().optional() })),
});

/**
 * Creates the list of issuers with the development issuer. An existing file belongs to the user and is never changed.
 * @param reserved ports that other processes of the platform are about to listen on
 */
export async function createIssuersFile(data: DataDirectory, reserved: readonly number[]): Promise<void> {
  if (existsSync(data.issuers)) return;
  const port = await findLastingPort(reserved);
  const { issuer, audience } = developmentIssuer;
  const text = `# Issuers whose platform tokens the policy management API takes. Read at start.
# Any OIDC issuer can stand here, by the URL of its keys:
#   - { issuer: "https://login.example", audience: portcullis, jwksUrl: "https://login.example/jwks.json" }
issuers:
  - { issuer: "${issuer}", audience: ${audience}, jwksUrl: "http://127.0.0.1:${port}/jwks.json" }
`;
  await writeAtomic(data.issuers, Buffer.from(text), { mode: 0o600 });
}

/**
 * Writes the issuers of the agents that call a service: the gateways, for the people of development mode.
 * @param gateway origin of the first gateway, which publishes the keys
 */
export async function writeAgentIssuers(
  data: DataDirectory,
  service: keyof typeof serviceAudiences,
  gateway: string,
): Promise<void> {
  const claims = 'subjectIssuerClaim: sub_iss, tenantsClaim: tenants, groupsClaim: groups';
  const keys = `jwksUrl: "${gateway}/.well-known/jwks.json"`;
  const text = `issuers:
  - { issuer: "${agentIssuer}", audience: "${serviceAudiences[service]}", ${keys}, ${claims} }
`;
  await writeAtomic(data.agentIssuers(service), Buffer.from(text), { mode: 0o600 });
}

/** The port of the development issuer: the port in its entry if that is on loopback, else 0 for any port. */
export function issuerPort(data: DataDirectory): number {
  const entry = readIssuers(data.issuers).find(({ issuer }) => issuer === developmentIssuer.issuer);
  if (entry?.jwksUrl === undefined) return 0;
  const { protocol, hostname, port } = new URL(entry.jwksUrl);
  return protocol === 'http:' && hostname === '127.0.0.1' && port !== '' ? Number(port) : 0;
}

/** The entries of the file; empty for an invalid file, which the management API reports. */
function readIssuers(path: string): z.infer<typeof fileSchema>['issuers'] {
  try {
    return fileSchema.parse(parse(readFileSync(path, 'utf8'))).issuers;
  } catch {
    return [];
  }
}
