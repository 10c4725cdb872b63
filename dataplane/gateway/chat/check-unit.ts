import type { CheckMessage } from '#contracts/checks';

export type ByteRange = { readonly start: number; readonly end: number };

/**
 * Where the text of one check message stands in the body: nowhere, as one JSON string, or in several parts of a list,
 * of which the first keeps a cleaned text and the others go.
 */
export type TextPlace =
  | { readonly kind: 'absent' }
  | { readonly kind: 'string'; readonly string: ByteRange }
  | { readonly kind: 'parts'; readonly string: ByteRange; readonly others: readonly ByteRange[] };

/** One message of a check and its place: the table from position to field (document 1, section 4.6, step 1). */
export type CheckUnit = CheckMessage & { readonly place: TextPlace };
