/**
 * Whether two plain JSON values are equal: the order of members is ignored, and an undefined member counts as absent.
 * The comparison stops at the first difference.
 */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && sameItems(a, b);
  const left = definedMembers(a);
  const right = definedMembers(b);
  if (left.size !== right.size) return false;
  for (const [name, value] of left) {
    if (!right.has(name) || !sameJson(value, right.get(name))) return false;
  }
  return true;
}

function sameItems(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, index) => sameJson(item, b[index]));
}

function definedMembers(value: object): Map<string, unknown> {
  return new Map(Object.entries(value).filter(([, member]) => member !== undefined));
}
