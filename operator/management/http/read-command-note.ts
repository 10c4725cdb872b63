import { failure } from '#api/operation';
import { headerValues } from '#kit/http/raw-headers';
import { readUserSubject } from '#relations/subject';
import { type ChangeNote, changeAuthorSchema, changeMessageHeader, changeMessageSchema } from '#resources/change-note';
import type { ManagementError } from './management.ts';

/**
 * The author and the reason of a command: the verified subject, and the optional header with the message in percent
 * encoding. The header is not part of the contract, whose bodies have no member for the message.
 */
export function readCommandNote(
  caller: string,
  rawHeaders: readonly string[],
): { readonly kind: 'note'; readonly note: ChangeNote } | ManagementError {
  const author = authorOf(caller);
  const [text, ...more] = headerValues(rawHeaders, changeMessageHeader);
  if (text === undefined) return { kind: 'note', note: { author } };
  const message = changeMessageSchema.safeParse(decoded(text));
  if (message.success && more.length === 0) return { kind: 'note', note: { author, message: message.data } };
  const rule = 'must be sent once, as one line of at most 512 characters in percent encoding';
  return failure('invalid_body', [{ path: '', message: `the header ${changeMessageHeader} ${rule}` }]);
}

function authorOf(caller: string): string | undefined {
  const pair = readUserSubject(caller);
  const author = changeAuthorSchema.safeParse(pair === undefined ? caller : `${pair.subject} (${pair.issuer})`);
  return author.success ? author.data : undefined;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
