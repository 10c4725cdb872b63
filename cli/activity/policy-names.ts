import type { KubeClient } from '#kube/client/client';
import { listAll } from '#kube/client/list-all';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { idLabel, kinds } from '#resources/kinds';

/**
 * Gives the resource name of a policy by its id; the id itself when the policy is deleted or the server does not
 * answer, so that decisions are shown in these cases, too.
 */
export async function namesFrom(
  withClient: (use: (client: KubeClient) => Promise<void>) => Promise<void>,
): Promise<(policyId: string) => string> {
  const names = new Map<string, string>();
  try {
    await withClient(async (client) => {
      const { items } = await listAll<GuardrailPolicy>(client, kinds.guardrailPolicy);
      for (const { metadata } of items) names.set(metadata.labels?.[idLabel] ?? '', metadata.name);
    });
  } catch {
    return (policyId) => policyId;
  }
  return (policyId) => names.get(policyId) ?? policyId;
}
