import type { AttributeValue, IndexEntry } from './ports.ts';

/**
 * A closed language of conditions on attributes. A list attribute fulfils a comparison if one of its values does; an
 * absent attribute fulfils no comparison. `ne` is the opposite of `eq`: no value is equal. Values of different types
 * are never equal and have no order; strings are compared by code points. `contains` matches a part of a string.
 */
export type AttributeCondition =
  | { readonly and: readonly AttributeCondition[] }
  | { readonly or: readonly AttributeCondition[] }
  | { readonly not: AttributeCondition }
  | Comparison;

export type OrderOperator = 'gt' | 'gte' | 'lt' | 'lte';

export type Comparison =
  | { readonly path: string; readonly op: 'eq'; readonly value: AttributeValue }
  | { readonly path: string; readonly op: 'ne'; readonly value: AttributeValue }
  | { readonly path: string; readonly op: OrderOperator; readonly value: string | number }
  | { readonly path: string; readonly op: 'contains'; readonly value: string }
  | { readonly path: string; readonly op: 'in'; readonly value: readonly AttributeValue[] };

/** Whether attributes fulfil a condition. An empty `and` is true, an empty `or` is false. */
export function fulfils(attributes: IndexEntry['attributes'], condition: AttributeCondition): boolean {
  if ('and' in condition) return condition.and.every((part) => fulfils(attributes, part));
  if ('or' in condition) return condition.or.some((part) => fulfils(attributes, part));
  if ('not' in condition) return !fulfils(attributes, condition.not);
  const values = valuesAt(attributes, condition.path);
  if (condition.op === 'ne') return !values.some((value) => value === condition.value);
  return values.some((value) => valueFulfils(value, condition));
}

/** The values of an attribute: the values of a list, a single value, or no value. */
export function valuesAt(attributes: IndexEntry['attributes'], path: string): readonly AttributeValue[] {
  const value = Object.hasOwn(attributes, path) ? attributes[path] : undefined;
  if (value === undefined) return [];
  return typeof value === 'object' ? value : [value];
}

/** Whether one value fulfils a comparison other than `ne`, which concerns all values. */
export function valueFulfils(value: AttributeValue, comparison: Exclude<Comparison, { op: 'ne' }>): boolean {
  switch (comparison.op) {
    case 'eq':
      return value === comparison.value;
    case 'in':
      return comparison.value.includes(value);
    case 'contains':
      return typeof value === 'string' && value.includes(comparison.value);
    case 'gt':
      return typeof value === typeof comparison.value && compareValues(value, comparison.value) > 0;
    case 'lt':
      return typeof value === typeof comparison.value && compareValues(value, comparison.value) < 0;
    case 'gte':
      return typeof value === typeof comparison.value && compareValues(value, comparison.value) >= 0;
    case 'lte':
      return typeof value === typeof comparison.value && compareValues(value, comparison.value) <= 0;
  }
}

/** Orders two values of the same type, strings by code points as UTF-8 bytes would be. */
function compareValues(one: AttributeValue, other: AttributeValue): number {
  if (typeof one !== 'string' || typeof other !== 'string') return Number(one) - Number(other);
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at += 1) {
    const difference = codeUnitRank(one.charCodeAt(at)) - codeUnitRank(other.charCodeAt(at));
    if (difference !== 0) return difference;
  }
  return one.length - other.length;
}

/** Surrogates represent code points above all others, though U+E000 to U+FFFF are the larger code units. */
function codeUnitRank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
