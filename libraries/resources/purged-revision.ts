import { isDeepStrictEqual } from 'node:util';
import { group } from './kinds.ts';
import type { Resource } from './metadata.ts';
import type { ApplicationRecord, ModelBinding } from './model-binding.ts';
import type { PolicyRevision, PolicyRevisionSpec } from './policy-revision.ts';

/**
 * Annotation of a revision that is about to lose its text: from then on the revision is not applied. It is set before
 * the uses of the revision are counted, so that no application can begin between the count and the removal.
 */
export const purgeMark = `${group}/purge`;

/**
 * Annotation of a ModelBinding: names of revisions whose text was removed, with a space between each two. The operator
 * removes the causes that may quote it from the outcomes of their applications, and then the annotation.
 */
export const forgetCausesAnnotation = `${group}/forget-causes`;

/** The outcomes of a binding, without the causes that its annotation tells the operator to remove. */
export function withoutForgottenCauses(
  applications: readonly ApplicationRecord[],
  { annotations }: Resource['metadata'],
): readonly ApplicationRecord[] {
  const forgotten = annotations?.[forgetCausesAnnotation]?.split(' ');
  if (forgotten === undefined) return applications;
  return applications.map(({ cause, ...rest }) =>
    cause === undefined || forgotten.includes(revisionNameOf(rest) ?? '') ? rest : { ...rest, cause },
  );
}

/**
 * The annotation with which the operator removes the causes about a revision; undefined if the binding has no such
 * causes.
 */
export function forgettingCausesOf(
  revisionName: string,
  { metadata, status }: Pick<ModelBinding, 'metadata' | 'status'>,
): Readonly<Record<string, string>> | undefined {
  const applications = status?.applications ?? [];
  const hasCause = applications.some((record) => record.cause !== undefined && revisionNameOf(record) === revisionName);
  if (!hasCause) return undefined;
  const names = new Set([...(metadata.annotations?.[forgetCausesAnnotation]?.split(' ') ?? []), revisionName]);
  return { [forgetCausesAnnotation]: [...names].join(' ') };
}

function revisionNameOf({ policyId, policyRevision }: Pick<ApplicationRecord, 'policyId' | 'policyRevision'>) {
  return policyId === undefined || policyRevision === undefined ? undefined : `${policyId}-${policyRevision}`;
}

/** The display name of a revision without text; the API promises a name of at least one character. */
export const purgedName = 'purged';

/** Whether the text of a revision was removed or is being removed. */
export function isPurged({ metadata, spec }: Pick<PolicyRevision, 'metadata' | 'spec'>): boolean {
  return spec.purgeTime !== undefined || isMarked(metadata);
}

export function isMarked({ annotations }: Resource['metadata']): boolean {
  return annotations?.[purgeMark] !== undefined;
}

/** The revision without all texts that a user wrote. Its number, digest, author and counts are kept. */
export function purgedSpec(spec: PolicyRevisionSpec, purgeTime: string): PolicyRevisionSpec {
  const { message: _message, refusalText: _refusalText, ...rest } = spec;
  return { ...rest, displayName: purgedName, description: '', definition: '', tests: [], purgeTime };
}

/** Whether a change of a spec is the removal of its text, which is the only allowed change of a revision. */
export function isPurgeOf(before: unknown, after: unknown): boolean {
  const [had, has] = [before, after] as readonly Partial<PolicyRevisionSpec>[];
  if (had === undefined || had.purgeTime !== undefined || has?.purgeTime === undefined) return false;
  return isDeepStrictEqual(has, purgedSpec(had as PolicyRevisionSpec, has.purgeTime));
}
