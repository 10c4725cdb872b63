/** The middle value; of an even number the upper one of the two; NaN without a value. */
export function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN;
}
