import type { KubeClient } from '#kube/client/client';
import { listAll } from '#kube/client/list-all';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import { CliError } from '../errors/cli-error.ts';

/**
 * The policy that a manifest changes over the management API, which chooses the names of resources itself: the policy
 * with the name in the manifest, else the policy with its display name; undefined if the manifest creates a policy.
 * @throws CliError usage if several policies have the display name
 */
export async function policyOfManifest(
  reader: KubeClient,
  { metadata: { name }, spec: { displayName } }: GuardrailPolicy,
): Promise<Stored<GuardrailPolicy> | undefined> {
  const named = await reader.get<GuardrailPolicy>(kinds.guardrailPolicy, name);
  if (named !== undefined) return named;
  const { items } = await listAll<GuardrailPolicy>(reader, kinds.guardrailPolicy);
  const [only, ...others] = items.filter(({ spec }) => spec.displayName === displayName);
  if (others.length === 0) return only;
  throw new CliError(
    'usage',
    `${others.length + 1} policies have the display name ${displayName}: set metadata.name to the name of one.`,
  );
}
