import type { TenantCaller } from './tenant-caller.ts';

/** The same for every request for one user of a tenant, and for no other. */
export function keyOfUser({ tenant, user }: Pick<TenantCaller, 'tenant' | 'user'>): string {
  return JSON.stringify([tenant, user.issuer, user.subject]);
}
