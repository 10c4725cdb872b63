import { kinds } from '#crds/kinds';
import type { PolicyRevision } from '#crds/policy-revision';
import type { KubeClient } from '#kube/client';
import { isKubeError } from '#kube/kube-error';
import type { RevisionHead } from './decide-recording.ts';
import { policyIdLabel, policyNameHash, policyNameLabel } from './resources/revision.ts';

/** Definitions may be large: so many are held at the same time, the rest only as heads. */
const pageSize = 20;

/** Every recorded revision of a policy id, from a live read, without the definitions. */
export function listRevisionHeads(
  client: Pick<KubeClient, 'list'>,
  policyId: string,
): Promise<readonly RevisionHead[]> {
  return readHeads(client, `${policyIdLabel}=${policyId}`);
}

/**
 * The id of the newest revision that was recorded for a policy of this name, from a live read. Ids are UUIDv7: of two
 * the greater one is the newer one.
 */
export async function newestIdOfName(client: Pick<KubeClient, 'list'>, name: string): Promise<string | undefined> {
  const heads = await readHeads(client, `${policyNameLabel}=${policyNameHash(name)}`);
  return heads
    .filter((head) => head.policy.name === name)
    .map((head) => head.policyId)
    .toSorted()
    .at(-1);
}

async function readHeads(client: Pick<KubeClient, 'list'>, labelSelector: string): Promise<readonly RevisionHead[]> {
  try {
    return await readPages(client, labelSelector);
  } catch (error) {
    // The pages took longer than the server keeps a point in time: one whole answer then.
    if (!isKubeError(error, 'gone')) throw error;
    const { items } = await client.list<PolicyRevision>(kinds.policyRevision, { labelSelector });
    return items.map(headOf);
  }
}

async function readPages(client: Pick<KubeClient, 'list'>, labelSelector: string): Promise<readonly RevisionHead[]> {
  const heads: RevisionHead[] = [];
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

function headOf(revision: PolicyRevision): RevisionHead {
  const { definition: _large, ...rest } = revision.spec;
  return { ...rest, objectName: revision.metadata.name };
}
