/** The middle value; for an even number of values the upper one of the two; NaN without a value. */
export function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN;
}
