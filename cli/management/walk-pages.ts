import { managementLimits, type PolicySummary } from '#contracts/management';
import type { ManagementClient } from './client.ts';

const limit = managementLimits.pageSize.max;

/** Every policy, newest first, without those that are created during the iteration. */
export async function* allPolicies(client: Pick<ManagementClient, 'listPolicies'>): AsyncGenerator<PolicySummary> {
  let cursor: string | null = null;
  do {
    const page = await client.listPolicies({ limit, ...(cursor === null ? {} : { cursor }) });
    yield* page.items;
    cursor = page.nextCursor;
  } while (cursor !== null);
}

/** Every revision of a policy, newest first. */
export async function* allRevisions(
  client: Pick<ManagementClient, 'listRevisions'>,
  policyId: string,
): AsyncGenerator<PolicySummary> {
  let beforeRevision: number | null = null;
  do {
    const page = await client.listRevisions(policyId, {
      limit,
      ...(beforeRevision === null ? {} : { beforeRevision }),
    });
    yield* page.items;
    beforeRevision = page.nextBeforeRevision;
  } while (beforeRevision !== null);
}
