import type { JsonValue } from './json-value.ts';

/** Replaces every string of a value, keys included, in the order of the value. */
export function mapStrings(value: JsonValue, replace: (text: string) => string): JsonValue {
  if (typeof value === 'string') return replace(value);
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((inner) => mapStrings(inner, replace));
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [replace(key), mapStrings(inner, replace)] as const),
  );
}
