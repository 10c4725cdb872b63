import type { KubeClient } from '#kube/client/client';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { idLabel, kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import { isShown, type ManagementCaches } from '../caches/management-caches.ts';
import { policyObjectName } from './make-policy.ts';

/**
 * The live policy of an id. The cache only provides the object name; absence is confirmed by the server. If two objects
 * have the same id, the owner of the recorded revisions is chosen.
 */
export async function findPolicy(
  client: Pick<KubeClient, 'get' | 'list'>,
  caches: Pick<ManagementCaches, 'policies' | 'revisions'>,
  policyId: string,
): Promise<Stored<GuardrailPolicy> | undefined> {
  const known = caches.policies.by('id', policyId).filter(isShown);
  const name = known.length === 1 ? known[0]?.metadata.name : policyObjectName(policyId);
  const direct = await client.get<GuardrailPolicy>(kinds.guardrailPolicy, name ?? policyObjectName(policyId));
  if (known.length < 2 && direct?.metadata.labels?.[idLabel] === policyId && isShown(direct)) return direct;
  const { items } = await client.list<GuardrailPolicy>(kinds.guardrailPolicy, {
    labelSelector: `${idLabel}=${policyId}`,
  });
  const shown = items.filter(isShown);
  const owner = caches.revisions(policyId)[0]?.policy;
  return (
    shown.find(({ metadata }) => metadata.uid === owner?.uid) ??
    shown.find(({ metadata }) => metadata.name === owner?.name) ??
    shown.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))[0]
  );
}
