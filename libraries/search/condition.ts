import type { AttributeValue } from './ports.ts';

/** A closed language of conditions on attributes. A list attribute fulfils a comparison if one of its values does. */
export type AttributeCondition =
  | { readonly and: readonly AttributeCondition[] }
  | { readonly or: readonly AttributeCondition[] }
  | { readonly not: AttributeCondition }
  | { readonly path: string; readonly op: 'eq' | 'ne' | 'gte' | 'lte' | 'contains'; readonly value: AttributeValue }
  | { readonly path: string; readonly op: 'in'; readonly value: readonly AttributeValue[] };
