/** Cuts bytes at the given positions, even inside a character; positions beyond the end are ignored. */
export function cutAt<T extends { readonly length: number; slice(start: number, end: number): T }>(
  whole: T,
  positions: readonly number[],
): T[] {
  const inside = [...new Set(positions.filter((at) => at > 0 && at < whole.length))].sort((one, other) => one - other);
  const edges = [0, ...inside, whole.length];
  return edges.slice(1).map((end, index) => whole.slice(edges[index] ?? 0, end));
}
