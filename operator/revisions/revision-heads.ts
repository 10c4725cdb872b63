import type { KubeClient } from '#kube/client/client';
import { isKubeError } from '#kube/client/kube-error';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { PolicyRevision } from '#resources/policy-revision';
import { policyIdLabel, policyNameHash, policyNameLabel } from '#resources/revision-labels';
import type { RevisionHead } from './decide-recording.ts';

/** Page size. Definitions may be large, so only one page of them is in memory at a time. */
const pageSize = 20;

/** Every recorded revision of a policy id, from a live read, without the definitions. */
export function listRevisionHeads(
  client: Pick<KubeClient, 'list'>,
  policyId: string,
): Promise<readonly RevisionHead[]> {
  return readHeads(client, `${policyIdLabel}=${policyId}`);
}

/**
 * The id of the newest revision that was recorded for a policy of this name, from a live read. If several revisions
 * were recorded in the same second, as after a restore, the revision with the newer id is used: ids are UUIDv7.
 */
export async function newestIdOfName(client: Pick<KubeClient, 'list'>, name: string): Promise<string | undefined> {
  const heads = await readHeads(client, `${policyNameLabel}=${policyNameHash(name)}`);
  const own = heads.filter((head) => head.policy.name === name);
  return own.toSorted((a, b) => compare(a.recordedAt, b.recordedAt) || compare(a.policyId, b.policyId)).at(-1)
    ?.policyId;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A head, and when it was recorded, by the clock of the server in whole seconds. */
type ReadHead = RevisionHead & { readonly recordedAt: string };

async function readHeads(client: Pick<KubeClient, 'list'>, labelSelector: string): Promise<readonly ReadHead[]> {
  try {
    return await readPages(client, labelSelector);
  } catch (error) {
    // If the continue token has expired, the whole list is read in one response.
    if (!isKubeError(error, 'gone')) throw error;
    const { items } = await client.list<PolicyRevision>(kinds.policyRevision, { labelSelector });
    return items.map(headOf);
  }
}

async function readPages(client: Pick<KubeClient, 'list'>, labelSelector: string): Promise<readonly ReadHead[]> {
  const heads: ReadHead[] = [];
  let next: string | undefined;
  do {
    const page = await client.list<PolicyRevision>(kinds.policyRevision, {
      labelSelector,
      limit: pageSize,
      ...(next === undefined ? {} : { continue: next }),
    });
    heads.push(...page.items.map(headOf));
    next = page.continue;
  } while (next !== undefined);
  return heads;
}

function headOf({ metadata, spec }: Stored<PolicyRevision>): ReadHead {
  const { definition: _large, ...rest } = spec;
  return { ...rest, objectName: metadata.name, recordedAt: metadata.creationTimestamp };
}
