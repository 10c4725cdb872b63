import type { CheckMessage } from '#contracts/checks';

export type BodyRange = { readonly start: number; readonly end: number };

/**
 * The place of the text of a check message in the request body: none, one JSON string, or several parts of a list. In
 * the last case the first part receives the masked text and the others are removed.
 */
export type TextPlace =
  | { readonly kind: 'absent' }
  | { readonly kind: 'string'; readonly string: BodyRange }
  | { readonly kind: 'parts'; readonly string: BodyRange; readonly others: readonly BodyRange[] };

/** One message of a check and its place in the body (`client:prepare:position-table`). */
export type CheckUnit = CheckMessage & { readonly place: TextPlace };
