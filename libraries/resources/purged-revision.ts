import { isDeepStrictEqual } from 'node:util';
import { group } from './kinds.ts';
import type { Resource } from './metadata.ts';
import type { PolicyRevision, PolicyRevisionSpec } from './policy-revision.ts';

/**
 * Annotation of a revision that is about to lose its text: from then on it is not applied. It is set before the uses of
 * the revision are counted, so that no application can begin between the count and the removal.
 */
export const purgeMark = `${group}/purge`;

/** The display name of a revision without text; the API promises a name of at least one character. */
export const purgedName = 'purged';

/** Whether the text of a revision was removed, or is being removed. */
export function isPurged({ metadata, spec }: Pick<PolicyRevision, 'metadata' | 'spec'>): boolean {
  return spec.purgeTime !== undefined || isMarked(metadata);
}

export function isMarked({ annotations }: Resource['metadata']): boolean {
  return annotations?.[purgeMark] !== undefined;
}

/** The revision without every text that a user wrote. Its number, digest, author and counts stay. */
export function purgedSpec(spec: PolicyRevisionSpec, purgeTime: string): PolicyRevisionSpec {
  const { message: _message, refusalText: _refusalText, ...rest } = spec;
  return { ...rest, displayName: purgedName, description: '', definition: '', tests: [], purgeTime };
}

/** Whether a change of a spec is the removal of its text, the only change of a revision that is allowed. */
export function isPurgeOf(before: unknown, after: unknown): boolean {
  const [had, has] = [before, after] as readonly Partial<PolicyRevisionSpec>[];
  if (had === undefined || had.purgeTime !== undefined || has?.purgeTime === undefined) return false;
  return isDeepStrictEqual(has, purgedSpec(had as PolicyRevisionSpec, has.purgeTime));
}
