import type { JsonValue } from '#kit/json/json-value';

/** Whether two JSON values are equal; the order of members is ignored. */
export function equalValues(one: JsonValue, other: JsonValue): boolean {
  if (one === other) return true;
  if (one === null || other === null || typeof one !== 'object' || typeof other !== 'object') return false;
  if (Array.isArray(one) || Array.isArray(other)) {
    if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false;
    return one.every((item, index) => equalValues(item, other[index] ?? null));
  }
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length) return false;
  return names.every((name) => Object.hasOwn(other, name) && equalValues(one[name] ?? null, other[name] ?? null));
}
