import type { ApplicationRecord } from '#resources/model-binding';
import { failedApplication, failedWith, type OpenCommandRecord, type OperationEnd } from './command-record.ts';

/** The facts about the binding of a model, from one read. */
export type BindingFacts = {
  readonly uid: string;
  readonly generation: number;
  /** spec.apply: the token of the desired application. */
  readonly token: string;
  /** Policy id and revision; nulls for a model without a guardrail. The id is undefined if the policy was not found. */
  readonly desired: { readonly policyId: string | null | undefined; readonly policyRevision: number | null };
  readonly contentProfile: string;
  readonly history: readonly ApplicationRecord[];
  /** The pinned application of the route, with the digest of its bundle. */
  readonly pinned: { readonly generationId: string; readonly digest: string | null } | undefined;
};

type BindingOperation = OpenCommandRecord & { readonly write: { readonly type: 'write_binding' } };

/**
 * How an operation on a binding ended; undefined while it is in progress. Only the operator decides an outcome, by an
 * entry in its application history with the id and content of the operation. Without such an entry, an operation that
 * the binding no longer desires is superseded.
 */
export function decideBindingEnd(
  operation: BindingOperation,
  written: { readonly uid: string; readonly generation: number },
  facts: BindingFacts | undefined,
): OperationEnd | undefined {
  if (facts === undefined) return failedWith('superseded', 'The model no longer exists.');
  const record = facts.history.find((entry) => answersOperation(entry, operation));
  if (record !== undefined) return endOf(operation, record, facts);
  // A restored model that still contains the write is applied again, and the operator decides that outcome.
  if (isStillDesired(operation, facts)) return undefined;
  if (facts.uid !== written.uid) return failedWith('lost_in_restore');
  if (facts.generation > written.generation) return failedWith('superseded', 'Its outcome was not observed.');
  return failedWith('lost_in_restore');
}

function answersOperation(record: ApplicationRecord, { operationId, write }: BindingOperation): boolean {
  if (record.operationId !== operationId || record.contentProfile !== write.contentProfile) return false;
  if (write.guardrail.mode === 'None') return record.policyId === undefined && record.policyRevision === undefined;
  // An entry has no policy id if the policy did not exist when the operator wrote it.
  const samePolicy = record.policyId === undefined || record.policyId === write.policyId;
  return samePolicy && record.policyRevision === write.guardrail.policyRef.revision;
}

function endOf(operation: BindingOperation, record: ApplicationRecord, facts: BindingFacts): OperationEnd {
  if (record.outcome === 'Failed') return failedApplication(record.reason ?? 'superseded', record.cause);
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

function isStillDesired({ operationId, write }: BindingOperation, facts: BindingFacts): boolean {
  if (facts.token !== operationId || facts.contentProfile !== write.contentProfile) return false;
  const { policyId, policyRevision } = facts.desired;
  if (write.guardrail.mode === 'None') return policyRevision === null;
  const samePolicy = policyId === undefined || policyId === write.policyId;
  return samePolicy && policyRevision === write.guardrail.policyRef.revision;
}
