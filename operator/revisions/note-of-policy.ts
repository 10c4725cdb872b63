import { managerNote } from '#kube/client/field-manager';
import { type ChangeNote, readChangeNote } from '#resources/change-note';
import type { GuardrailPolicy } from '#resources/guardrail-policy';

type Noted = {
  readonly metadata: Pick<GuardrailPolicy['metadata'], 'annotations'>;
  readonly spec: Pick<GuardrailPolicy['spec'], 'change'>;
};

/**
 * The author and the reason of this generation of a policy: as the writer stated them, else the field manager.
 * @param recordedTokens tokens of earlier revisions of this object: a later edit that keeps the token has no note
 */
export function noteOfPolicy({ metadata, spec }: Noted, recordedTokens: readonly string[]): ChangeNote {
  const token = spec.change ?? '';
  const stated = recordedTokens.includes(token) ? undefined : readChangeNote(metadata.annotations, token);
  return stated ?? managerNote(metadata);
}
