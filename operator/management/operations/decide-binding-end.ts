import type { ApplicationRecord } from '#resources/model-binding';
import { failedWith, type OpenOperation, type OperationEnd } from './operation.ts';

/** The binding of a model as one read showed it. */
export type BindingFacts = {
  readonly uid: string;
  readonly generation: number;
  /** The token that the binding wants to be applied. */
  readonly token: string;
  /** Policy id and revision; nulls where the model is to be without a guardrail. The id may be unknown. */
  readonly wanted: { readonly policyId: string | null | undefined; readonly policyRevision: number | null };
  readonly contentProfile: string;
  readonly ring: readonly ApplicationRecord[];
  /** What the route pins, with the digest of its bundle. */
  readonly pinned: { readonly generationId: string; readonly digest: string | null } | undefined;
};

type BindingOperation = OpenOperation & { readonly write: { readonly type: 'write_binding' } };

/**
 * How an operation on a binding ended; undefined while it goes on. Only the operator decides an outcome: a record of its
 * ring answers an operation by its id and content. Where no record does and the binding wants something else by now,
 * the operation is superseded (DESIGN section 5).
 */
export function decideBindingEnd(
  operation: BindingOperation,
  written: { readonly uid: string; readonly generation: number },
  facts: BindingFacts | undefined,
): OperationEnd | undefined {
  if (facts === undefined) return failedWith('superseded', 'The model is gone.');
  const record = facts.ring.find((entry) => answersOperation(entry, operation));
  if (record !== undefined) return endOf(operation, record, facts);
  // A model that was restored with what the command wrote is applied again: the operator ends it.
  if (wantsStill(operation, facts)) return undefined;
  if (facts.uid !== written.uid) return failedWith('lost_in_restore');
  if (facts.generation > written.generation) return failedWith('superseded', 'Its outcome was not observed.');
  return failedWith('lost_in_restore');
}

function answersOperation(record: ApplicationRecord, { operationId, write }: BindingOperation): boolean {
  if (record.operationId !== operationId || record.contentProfile !== write.contentProfile) return false;
  if (write.guardrail.mode === 'None') return record.policyId === undefined && record.policyRevision === undefined;
  // The id is absent in a record that was made while the policy could not be found.
  const samePolicy = record.policyId === undefined || record.policyId === write.policyId;
  return samePolicy && record.policyRevision === String(write.guardrail.policyRef.revision);
}

function endOf(operation: BindingOperation, record: ApplicationRecord, facts: BindingFacts): OperationEnd {
  if (record.outcome === 'Failed') return failedWith(record.reason ?? 'superseded');
  const { write, target } = operation;
  const generationId = record.generationId ?? null;
  const { pinned } = facts;
  const bundleDigest = pinned !== undefined && pinned.generationId === generationId ? pinned.digest : null;
  const policyRevision = write.guardrail.mode === 'None' ? null : write.guardrail.policyRef.revision;
  return {
    kind: 'succeeded',
    result: { modelId: target.id, policyId: write.policyId, policyRevision, generationId, bundleDigest },
  };
}

function wantsStill({ operationId, write }: BindingOperation, facts: BindingFacts): boolean {
  if (facts.token !== operationId || facts.contentProfile !== write.contentProfile) return false;
  const { policyId, policyRevision } = facts.wanted;
  if (write.guardrail.mode === 'None') return policyRevision === null;
  const samePolicy = policyId === undefined || policyId === write.policyId;
  return samePolicy && policyRevision === write.guardrail.policyRef.revision;
}
