import { managerNote } from '#kube/client/field-manager';
import { type ChangeNote, readChangeNote } from '#resources/change-note';
import type { ModelBinding } from '#resources/model-binding';
import type { OutcomeRecord } from './application.ts';

/**
 * The author and the reason of an application: as the writer of the binding stated them, else the field manager. If the
 * binding no longer requests the application, or if it kept the token of another application, there is no stated note.
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
  return stated ?? managerNote(metadata);
}

function noteOf({ author, message }: ChangeNote): ChangeNote {
  return { ...(author === undefined ? {} : { author }), ...(message === undefined ? {} : { message }) };
}
