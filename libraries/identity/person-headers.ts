import { tenantIssuer } from './authorize-callers.ts';
import type { Identity, Subject } from './identity.ts';
import { tokenLimits } from './identity.ts';
import { nameList, oneName } from './identity-headers.ts';
import { isSentToThisMachine } from './is-sent-to-this-machine.ts';

/** The tenant in whose groups a person has rights, and those groups. */
type PersonTenant = { readonly tenant: string | undefined; readonly groups: readonly string[] };

/**
 * The tenant of a request of a verified person: the tenant that X-Tenant-Id names, or the only one of the token.
 * Without a tenant the groups of the token have no rights.
 * @returns undefined for a tenant that the token does not have
 */
export function tenantOfPerson(
  rawHeaders: readonly string[],
  { tenants, groups }: Pick<Identity, 'tenants' | 'groups'>,
): PersonTenant | undefined {
  const chosen = oneName(rawHeaders, 'x-tenant-id');
  if (typeof chosen === 'object') return undefined;
  if (chosen !== undefined && !tenants.includes(chosen)) return undefined;
  const tenant = chosen ?? (tenants.length === 1 ? tenants[0] : undefined);
  return { tenant, groups: tenant === undefined ? [] : groups };
}

/**
 * The person that X-User-Id, X-Tenant-Id and X-Groups name in development mode, without authentication. Services with
 * tenants know this person in that mode; no token can name the person.
 * @returns undefined if the headers name no person, or if the host name of the request belongs to another site
 */
export function personOfHeaders(
  rawHeaders: readonly string[],
): (PersonTenant & { readonly tenant: string; readonly subject: Subject }) | undefined {
  if (!isSentToThisMachine(rawHeaders)) return undefined;
  const [user, tenant] = ['x-user-id', 'x-tenant-id'].map((name) => oneName(rawHeaders, name));
  const groups = nameList(rawHeaders, 'x-groups', tokenLimits.groups);
  if (typeof user !== 'string' || typeof tenant !== 'string' || !groups.ok) return undefined;
  return { subject: { issuer: tenantIssuer(tenant), subject: user }, tenant, groups: groups.names };
}
