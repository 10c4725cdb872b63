import type { ApprovalKind } from '#contracts/approvals';
import { digestOf } from '#contracts/canonical';
import type { GuardrailPolicySpec } from '#resources/guardrail-policy';
import type { CommandTarget, CommandWrite } from './command-record.ts';

/** The content that a second person approves. */
export type ApprovalDemand = {
  readonly kind: ApprovalKind;
  /** SHA-256 of the write of the command and of the state that it replaces. After an edit another approval is needed. */
  readonly digest: string;
  /**
   * The policies and models of the command. The command needs an approval if one of them requires it, and is refused in
   * a freeze window of one of them.
   */
  readonly askers: readonly CommandTarget[];
};

type BindingWrite = CommandWrite & { readonly type: 'write_binding' };

/**
 * The demand of an application or an unbind: the model, the applied policy and the replaced policies may require an
 * approval. @param definitionDigest the digest of the revision's definition; null to unbind @param replaced ids of the
 * previous policies: the desired one and the one that protects the model
 */
export function bindingDemand(
  modelId: string,
  { uid, generation, guardrail, contentProfile, policyId }: Omit<BindingWrite, 'note'>,
  { definitionDigest, replaced }: { readonly definitionDigest: string | null; readonly replaced: readonly string[] },
): ApprovalDemand {
  const kind = policyId === null ? 'binding.unbind' : 'binding.apply';
  const revision = guardrail.mode === 'Policy' ? guardrail.policyRef.revision : null;
  const digest = digestOf({ kind, modelId, uid, generation, policyId, revision, definitionDigest, contentProfile });
  const policies = [...new Set([policyId, ...replaced])].filter((id) => id !== null);
  return {
    kind,
    digest,
    askers: [{ type: 'model', id: modelId }, ...policies.map((id) => ({ type: 'policy' as const, id }))],
  };
}

/**
 * The demand of a save that archives a policy. The change token of the save is left out, because it differs in each
 * attempt.
 */
export function archiveDemand(
  policyId: string,
  { uid, generation, spec }: { readonly uid: string; readonly generation: number; readonly spec: GuardrailPolicySpec },
): ApprovalDemand {
  const { change: _token, ...content } = spec;
  const kind = 'policy.archive';
  return {
    kind,
    digest: digestOf({ kind, policyId, uid, generation, content }),
    askers: [{ type: 'policy', id: policyId }],
  };
}

/** The policies and models of a demand, as type:id. */
export function objectsOf(demand: ApprovalDemand | undefined): readonly string[] {
  return (demand?.askers ?? []).map(({ type, id }) => `${type}:${id}`);
}
