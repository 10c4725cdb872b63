import type { CheckMessage } from '#contracts/checks';

export type BodyRange = { readonly start: number; readonly end: number };

/**
 * The place of the text of a check message in the body.
 * - `absent`: there is no text.
 * - `string`: one JSON string.
 * - `parts`: several parts of a list; the first receives the masked text and the others are removed.
 * - `nested`: a JSON string inside of `text`, the JSON text that the string at `outer` holds.
 * - `within`: a JSON string inside of `text`, the JSON text that the text `of` is. Its mask is put into that text.
 * - `seam`: text around the places where the text parts of a message are joined, without a blank. A mask of it is a deny, unless
 *   the message itself was masked: then its parts are one part, with blanks. `message` is the place of the first part.
 * - `joint`: text around the places where the texts `parts` are joined, which stay apart. A mask of it is a deny, unless the masks
 *   of the parts give the same text.
 * - `fixed`: text that cannot be replaced without another meaning, such as a name or a number. A mask of it is a deny.
 */
export type TextPlace =
  | { readonly kind: 'absent' }
  | { readonly kind: 'string'; readonly string: BodyRange }
  | { readonly kind: 'parts'; readonly string: BodyRange; readonly others: readonly BodyRange[] }
  | { readonly kind: 'nested'; readonly outer: BodyRange; readonly text: Buffer; readonly string: BodyRange }
  | { readonly kind: 'within'; readonly of: CheckUnit; readonly text: Buffer; readonly string: BodyRange }
  | { readonly kind: 'seam'; readonly message: BodyRange }
  | { readonly kind: 'joint'; readonly parts: readonly CheckUnit[] }
  | { readonly kind: 'fixed' };

/** One message of a check and its place in the body (`client:prepare:position-table`). */
export type CheckUnit = CheckMessage & { readonly place: TextPlace };
