import type { ApplyResult } from '#kube/apply/apply-manifest';
import type { KubeClient } from '#kube/client/client';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import type { Resource } from '#resources/metadata';
import type { ReadManifest } from '../manifests/read-resources.ts';
import { policyWarnings } from '../policy/policy-warnings.ts';
import { policyIdOf } from '../policy/read-policy.ts';
import { waitJudged } from '../policy/wait-judged.ts';
import type { OpenedResources } from '../resources/resource-source.ts';
import { readSettings } from '../revisions/check-providers.ts';

/** Waits until the operator has validated each policy, when there is no binding to wait for. Returns the warnings. */
export async function judgedByOperator(
  client: KubeClient,
  results: readonly ApplyResult[],
  seconds: number,
  onState: (sentence: string) => void,
): Promise<readonly string[]> {
  const warnings: (string | undefined)[] = [];
  for (const { object } of results) {
    if (isPolicy(object)) warnings.push(await waitJudged(client, object, seconds, onState));
  }
  return warnings.filter((warning) => warning !== undefined);
}

/**
 * Refusals and warnings for the policies, validated on this machine with the settings of the platform; undefined when
 * the settings cannot be read, for example over the management API.
 */
export async function warningsOf(
  manifests: readonly ReadManifest[],
  resources: Pick<OpenedResources, 'environment'>,
): Promise<readonly string[] | undefined> {
  const policies = manifests.flatMap(({ resource, source }) =>
    isPolicy(resource) ? [{ policy: resource, source }] : [],
  );
  if (policies.length === 0) return [];
  const settings = await readSettings(resources);
  if (settings === undefined) return undefined;
  const warnings: string[] = [];
  for (const { policy, source } of policies) {
    warnings.push(...(await policyWarnings({ source, policy, id: policyIdOf(policy) }, settings)));
  }
  return warnings;
}

function isPolicy<R extends Resource>(object: R): object is R & GuardrailPolicy {
  return object.kind === kinds.guardrailPolicy.kind;
}
