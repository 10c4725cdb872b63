import type { TenantCaller } from './tenant-caller.ts';

/** A key that is equal for all requests for one user of a tenant, and different for any other user. */
export function keyOfUser({ tenant, user }: Pick<TenantCaller, 'tenant' | 'user'>): string {
  return JSON.stringify([tenant, user.issuer, user.subject]);
}
