/** A range of bytes of one text, with the offset after its end, and its replacement. */
export type Replacement = { readonly start: number; readonly end: number; readonly text: string };

type MergedMasks =
  | { readonly ok: true; readonly replacements: readonly Replacement[] }
  | { readonly ok: false; readonly code: 'invalid_replacement' };

/**
 * Merges the replacements of all rules for one text (`guardrail:execution:overlap-conflict`). Overlapping ranges with
 * the same replacement text become their union; any other overlap cannot be applied. Ranges that only touch do not
 * overlap. The result is sorted and free of overlaps.
 */
export function mergeMasks(replacements: readonly Replacement[]): MergedMasks {
  const sorted = [...replacements].sort((left, right) => left.start - right.start || left.end - right.end);
  const merged: Replacement[] = [];
  for (const next of sorted) {
    const last = merged.at(-1);
    if (last === undefined || next.start >= last.end) {
      merged.push(next);
      continue;
    }
    if (next.text !== last.text) return { ok: false, code: 'invalid_replacement' };
    if (next.end > last.end) merged[merged.length - 1] = { start: last.start, end: next.end, text: last.text };
  }
  return { ok: true, replacements: merged };
}

/**
 * The text with its replacements applied; `bytes` is its UTF-8 form, to which the offsets refer. Replacements must be
 * sorted, must not overlap and must begin and end at character boundaries, as `mergeMasks` and the engine return them.
 * A replacement is inserted literally: it is not expanded or matched again.
 */
export function applyMasks(text: string, bytes: Buffer, replacements: readonly Replacement[]): string {
  const isAscii = text.length === bytes.length;
  const part = (start: number, end: number): string =>
    isAscii ? text.slice(start, end) : bytes.toString('utf8', start, end);
  let masked = '';
  let position = 0;
  for (const replacement of replacements) {
    masked += part(position, replacement.start) + replacement.text;
    position = replacement.end;
  }
  return masked + part(position, bytes.length);
}
