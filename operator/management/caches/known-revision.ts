import { changeNote, changeTime } from '#kube/client/change-author';
import { createdAnnotation } from '#resources/kinds';
import type { Metadata, Stored } from '#resources/metadata';
import type { PolicyRevision, PolicyRevisionSpec } from '#resources/policy-revision';
import { storedBytes } from '../../revisions/fits-into-revision.ts';

/** A recorded revision without its definition and tests, which may be large. */
export type KnownRevision = Omit<PolicyRevisionSpec, 'definition' | 'tests'> & {
  readonly objectName: string;
  /** The time at which the revision was recorded, RFC 3339. */
  readonly recordedAt: string;
  /** Size of its definition and tests. */
  readonly bytes: number;
  /** The author of the removal of the text; absent for a revision with its text, and where the server names none. */
  readonly purgedBy?: string | undefined;
  /** RFC 3339: time of the removal by the clock of the server. The client sets `purgeTime`, but cannot set this time. */
  readonly purgeSeenAt?: string | undefined;
};

/** RFC 3339: when an object was created; a restored object has its first creation in an annotation. */
export function createdAt({ annotations, creationTimestamp }: Metadata): string {
  const text = annotations?.[createdAnnotation] ?? creationTimestamp ?? '';
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? new Date(0).toISOString() : date.toISOString();
}

export function knownRevision({ metadata, spec }: Stored<PolicyRevision>): KnownRevision {
  const { definition, tests, ...rest } = spec;
  const bytes = storedBytes(definition, tests);
  const isPurged = rest.purgeTime !== undefined;
  const purgedBy = isPurged ? changeNote(metadata).author : undefined;
  const purgeSeenAt = isPurged ? changeTime(metadata) : undefined;
  return { ...rest, purgedBy, purgeSeenAt, objectName: metadata.name, recordedAt: createdAt(metadata), bytes };
}
