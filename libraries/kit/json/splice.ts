export type Edit = {
  readonly start: number;
  readonly end: number;
  readonly replacement: Uint8Array;
};

/**
 * The bytes with each span [start, end) replaced. Edits may be in any order; spans may touch.
 * @throws RangeError when spans overlap or lie outside the bytes
 */
export function splice(bytes: Uint8Array, edits: readonly Edit[]): Uint8Array {
  const ordered = edits.toSorted((one, other) => one.start - other.start || one.end - other.end);
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const { start, end, replacement } of ordered) {
    if (start < at || end < start || end > bytes.length) throw new RangeError(`edit ${start}..${end} does not fit`);
    parts.push(bytes.subarray(at, start), replacement);
    at = end;
  }
  parts.push(bytes.subarray(at));
  return Buffer.concat(parts);
}
