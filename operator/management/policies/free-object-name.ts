import type { KubeClient } from '#kube/client/client';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import { newestIdOfName } from '../../revisions/revision-heads.ts';
import type { ManagementCaches } from '../caches/management-caches.ts';
import { objectNamesFor, policyObjectName } from './make-policy.ts';

/**
 * The best free object name for a new policy: no policy has it, no recorded revision names it, and no binding waits for
 * it, which would otherwise apply this policy.
 */
export async function freeObjectName(
  client: Pick<KubeClient, 'get' | 'list'>,
  caches: Pick<ManagementCaches, 'bindings'>,
  policy: { readonly id: string; readonly displayName: string },
): Promise<string> {
  const last = policyObjectName(policy.id);
  for (const name of objectNamesFor(policy.id, policy.displayName)) {
    if (name === last) break;
    if (isAwaited(caches, name)) continue;
    if ((await client.get<GuardrailPolicy>(kinds.guardrailPolicy, name)) !== undefined) continue;
    if ((await newestIdOfName(client, name)) === undefined) return name;
  }
  return last;
}

function isAwaited({ bindings }: Pick<ManagementCaches, 'bindings'>, policy: string): boolean {
  return bindings
    .list()
    .some(({ spec: { guardrail } }) => guardrail.mode === 'Policy' && guardrail.policyRef.name === policy);
}
