import type { IncomingMessage } from 'node:http';
import { readIfMatch } from '#api/if-match';
import { failure } from '#api/operation';
import { headerValues } from '#kit/http/raw-headers';
import type { ManagementError } from './management.ts';

/**
 * One version of a policy or a model. The type is part of the ETag, so that the ETags of both never match each other.
 */
type VersionedResource = {
  readonly type: 'policy' | 'model';
  readonly id: string;
  readonly uid: string;
  /** metadata.generation */
  readonly generation: number;
};

/** The strong entity tag of a resource: the tag changes with the desired state, not with the observed state. */
export function etagOf({ type, id, uid, generation }: VersionedResource): string {
  return `"${type}.${id}.${uid}.${generation}"`;
}

/** Compares If-Match with a resource; returns the error for a missing, invalid or stale header. */
type IfMatchCheck = (resource: VersionedResource) => ManagementError | undefined;

/** The condition that If-Match of a request demands; an error when the header is missing or not an entity tag. */
export function requireIfMatch(incoming: IncomingMessage): IfMatchCheck | ManagementError {
  const match = readIfMatch(headerValues(incoming.rawHeaders, 'if-match'));
  if (match.kind === 'missing') return failure('if_match_missing');
  if (match.kind === 'invalid') return failure('if_match_invalid');
  return (resource) => (match.kind === 'tag' && match.tag === etagOf(resource) ? undefined : failure('etag_mismatch'));
}
