import { documentOverlap } from '#contracts/served-target';

/** A part of a text, in UTF-16 units, end exclusive. */
export type TextPiece = { readonly start: number; readonly end: number };

/** White space of RE2, which `divisionOf` of the runtime compares with the patterns of mask rules. */
const whiteSpace = /[\t\n\f\r ]/;

/**
 * The longest piece from `start` for which `fits` is true. The piece ends at the end of the text or after white space,
 * so that no word and no match without white space is split. Undefined if no such piece is longer than the overlap: the
 * text cannot be divided.
 * @param most maximum number of UTF-16 units of a piece that can fit
 * @param fits whether a piece is small enough; if it is true for a piece, it must be true for any part of it
 */
export function pieceFrom(
  text: string,
  start: number,
  { most, fits }: { readonly most: number; readonly fits: (piece: TextPiece) => boolean },
): TextPiece | undefined {
  let low = start;
  let high = Math.min(text.length, start + most);
  if (high === text.length && fits({ start, end: high })) return { start, end: high };
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (fits({ start, end: middle })) low = middle;
    else high = middle;
  }
  const end = cutBefore(text, low, start + documentOverlap);
  return end === undefined ? undefined : { start, end };
}

/**
 * Places at which the next piece may begin, the last place first: each is after white space, and at least the overlap
 * before the end of the piece. A match that begins before such a place ends inside the piece, or is longer than the
 * overlap.
 */
export function* cutsOf(text: string, { start, end }: TextPiece): Generator<number> {
  for (
    let cut = cutBefore(text, end - documentOverlap, start);
    cut !== undefined;
    cut = cutBefore(text, cut - 1, start)
  ) {
    yield cut;
  }
}

/** The last place up to `at` and after `least` that follows white space. */
function cutBefore(text: string, at: number, least: number): number | undefined {
  for (let cut = at; cut > least; cut -= 1) if (whiteSpace.test(text.charAt(cut - 1))) return cut;
  return undefined;
}
