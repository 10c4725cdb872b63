import type { KubeClient } from '#kube/client/client';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { idLabel, kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { CliError } from '../errors/cli-error.ts';
import { readRevision } from './read-revisions.ts';

export type RevisionRef = {
  readonly name: string;
  readonly revision: number;
  /** The id that the policy must have; when absent, any id is accepted. */
  readonly policyId?: string;
};

/**
 * Checks, before anything is written, that a revision exists and that the operator would apply it. The revision that the
 * binding serves now can be applied again although its policy is archived.
 * @throws CliError not_found for an unknown policy or revision, refused for a policy that was deleted, is being deleted
 * or is archived
 */
export async function checkApplicable(
  client: KubeClient,
  { status }: Stored<ModelBinding>,
  { name, revision, policyId }: RevisionRef,
): Promise<void> {
  const recorded = await readRevision(client, name, revision);
  const policy = await client.get<GuardrailPolicy>(kinds.guardrailPolicy, name);
  const wantedId = policyId ?? recorded.spec.policyId;
  const isServed = status?.pinned?.policyId === wantedId && status.pinned.policyRevision === revision;
  const problem = policy !== undefined && isServed ? undefined : problemOf(policy, wantedId);
  if (problem === undefined) return;
  throw new CliError('refused', `Revision ${revision} of ${name} cannot be applied: ${problem} Nothing was changed.`);
}

function problemOf(policy: GuardrailPolicy | undefined, wantedId: string): string | undefined {
  if (policy === undefined) return 'the policy was deleted. Apply it again from its file, or apply another policy.';
  const { metadata, spec } = policy;
  if (metadata.deletionTimestamp !== undefined)
    return 'the policy is being deleted. Apply it again from its file to keep it, or apply another policy.';
  if (spec.lifecycle === 'Archived') return 'the policy is archived. Set its lifecycle to Draft first.';
  const id = metadata.labels?.[idLabel];
  if (id !== undefined && id !== wantedId) return 'it belongs to an earlier policy of the same name.';
  return undefined;
}
