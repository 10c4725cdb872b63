import { applicationNote } from '#kube/client/change-author';
import { type ChangeNote, readChangeNote } from '#resources/change-note';
import type { ModelBinding } from '#resources/model-binding';
import type { OutcomeRecord } from './application.ts';

/**
 * The author and the reason of an application. An
 * application that the binding no longer requests, or that keeps the token of another one, has no stated note.
 */
export function noteOfOutcome(
  outcome: Pick<OutcomeRecord, 'operationId' | 'policyId' | 'policyRevision' | 'contentProfile'>,
  { metadata, spec, status }: Pick<ModelBinding, 'metadata' | 'spec' | 'status'>,
): ChangeNote {
  const sameToken = status?.applications?.filter(({ operationId }) => operationId === outcome.operationId) ?? [];
  const earlier = sameToken.find(
    ({ policyId, policyRevision, contentProfile }) =>
      policyId === outcome.policyId &&
      policyRevision === outcome.policyRevision &&
      contentProfile === outcome.contentProfile,
  );
  if (earlier !== undefined) return noteOf(earlier);
  const token = spec.apply ?? '';
  if (outcome.operationId !== token) return {};
  const stated = sameToken.length > 0 ? undefined : readChangeNote(metadata.annotations, token);
  return applicationNote(metadata, stated);
}

function noteOf({ author, message }: ChangeNote): ChangeNote {
  return { ...(author === undefined ? {} : { author }), ...(message === undefined ? {} : { message }) };
}
