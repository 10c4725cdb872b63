import { canonicalBytes, sha256Hex } from '#contracts/canonical';
import { rulesOfDefinition } from '#contracts/shared-rules';
import type { GuardrailPolicySpec } from '#resources/guardrail-policy';
import { apiVersion, kinds } from '#resources/kinds';
import type { PolicyRevision, PolicyRevisionSpec } from '#resources/policy-revision';
import { policyIdLabel, policyNameHash, policyNameLabel } from '#resources/revision-labels';

export function revisionName(policyId: string, revision: number | string): string {
  return `${policyId}-${revision}`;
}

/** The content of a policy at one generation, in the fields of a revision. */
export type RevisionContent = Omit<PolicyRevisionSpec, 'policyId' | 'number' | 'definition'>;

/** The content of a revision of this generation of a policy. */
export function makeRevisionContent(
  policy: { readonly name: string; readonly uid: string; readonly generation: number },
  spec: GuardrailPolicySpec,
): RevisionContent & { readonly definition: string } {
  const definition = canonicalBytes(spec.definition);
  const rules = rulesOfDefinition(spec.definition);
  return {
    policy: { name: policy.name, uid: policy.uid, generation: policy.generation },
    token: spec.change ?? '',
    displayName: spec.displayName,
    description: spec.description,
    lifecycle: spec.lifecycle,
    definition: definition.toString('utf8'),
    definitionDigest: sha256Hex(definition),
    ruleCount: rules.length,
    ruleKinds: [...new Set(rules.map((rule) => rule.kind))].toSorted(),
    ...(spec.refusalText === undefined ? {} : { refusalText: spec.refusalText }),
    tests: [...(spec.tests ?? [])],
  };
}

/** The object of a revision; it has no owner, for history survives its policy. */
export function makeRevision(
  policyId: string,
  number: number,
  content: RevisionContent & { readonly definition: string },
): PolicyRevision {
  return {
    apiVersion,
    kind: kinds.policyRevision.kind,
    metadata: {
      name: revisionName(policyId, number),
      labels: { [policyIdLabel]: policyId, [policyNameLabel]: policyNameHash(content.policy.name) },
    },
    spec: { policyId, number, ...content },
  };
}
