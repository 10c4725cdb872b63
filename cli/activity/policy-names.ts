import { listAll } from '#kube/client/list-all';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { idLabel, kinds } from '#resources/kinds';
import { openPlatform } from '../platform/open-platform.ts';
import type { RunningPlatform } from '../platform/running-platform.ts';

/**
 * Gives the resource name of a policy by its id; the id itself when the policy is deleted or the operator does not
 * answer, so that decisions are shown then, too.
 */
export async function readPolicyNames(platform: RunningPlatform): Promise<(policyId: string) => string> {
  const names = new Map<string, string>();
  try {
    await using resources = openPlatform(platform, { requestTimeout: 5 });
    const { items } = await listAll<GuardrailPolicy>(resources.client, kinds.guardrailPolicy);
    for (const { metadata } of items) names.set(metadata.labels?.[idLabel] ?? '', metadata.name);
  } catch {
    return (policyId) => policyId;
  }
  return (policyId) => names.get(policyId) ?? policyId;
}
