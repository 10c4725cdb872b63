import type { IncomingMessage } from 'node:http';
import { headerValues } from '#kit/http/raw-headers';
import { etagOf, type IfMatch, readIfMatch, type Tagged } from '../etag.ts';
import { type Refusal, refuse } from './reply.ts';

/** The If-Match of a request; a refusal where there is none, or nothing that can be read as one. */
export function requireIfMatch(incoming: IncomingMessage): Extract<IfMatch, { kind: 'tag' | 'never' }> | Refusal {
  const match = readIfMatch(headerValues(incoming.rawHeaders, 'if-match'));
  switch (match.kind) {
    case 'missing':
      return refuse('if_match_missing');
    case 'invalid':
      return refuse('if_match_invalid');
    case 'never':
    case 'tag':
      return match;
  }
}

/** A refusal unless the tag is that of the resource as it is now. */
export function matchEtag(match: Extract<IfMatch, { kind: 'tag' | 'never' }>, resource: Tagged): Refusal | undefined {
  return match.kind === 'tag' && match.tag === etagOf(resource) ? undefined : refuse('etag_mismatch');
}
