import { openTokenFile } from '#kit/http/token-file';
import { createHttpCollections } from '../collections/adapters/http/http-collections.ts';
import type { CollectionService } from '../controllers/collection/controller.ts';
import type { RetrievalAccess } from './operator-config.ts';

/** A value that approves every tenant, for a single machine on which headers name the caller. */
const anyTenant = '*';

/**
 * The retrieval service that a configuration names.
 * @param writesAllowed whether this process is the leader at that moment
 * @throws TokenFileError
 */
export function openCollections(
  access: RetrievalAccess | undefined,
  writesAllowed: () => boolean,
): CollectionService | undefined {
  if (access === undefined) return undefined;
  const tenants = new Set(access.tenants);
  return {
    collections: createHttpCollections({ url: access.url, tokenFile: openTokenFile(access.tokenFile), writesAllowed }),
    isApproved: (tenant) => tenants.has(anyTenant) || tenants.has(tenant),
  };
}
