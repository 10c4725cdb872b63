import type { AttributeCondition } from '#search/condition';
import type { IndexEntry } from '#search/ports';

/**
 * Limits of values that conditions can compare; values beyond them stay in the metadata and are not found by a
 * condition.
 */
export const attributeLimits = {
  /** Maximum number of attributes of a document. */
  attributes: 128,
  /** Values of a list, and code units of a string. */
  values: 128,
  valueLength: 1_024,
  /** Maximum number of levels of nested objects. */
  depth: 5,
} as const;

type Attributes = Record<string, IndexEntry['attributes'][string]>;

/** The bounds of a document's validity, milliseconds since 1970: rounded outwards, so that no valid document is excluded. */
type Validity = { readonly validFrom: number | null; readonly validUntil: number | null };

/** A document whose attributes are compared. */
type DescribedDocument = Validity & {
  readonly docId: string;
  readonly metadata: Readonly<Record<string, unknown>>;
};

/**
 * The attributes that conditions compare: `doc_id`, the bounds of the validity, and the metadata of a document by paths
 * such as `metadata.source`.
 */
export function chunkAttributes(document: DescribedDocument): IndexEntry['attributes'] {
  const { docId, metadata, validFrom, validUntil } = document;
  const attributes: Attributes = {
    doc_id: docId,
    ...(validFrom === null ? {} : { valid_from: validFrom }),
    ...(validUntil === null ? {} : { valid_until: validUntil }),
  };
  addObject(attributes, 'metadata', metadata, 1);
  return attributes;
}

/** The documents that are valid at a time, milliseconds since 1970; those without bounds always are. */
export function validAt(now: number): AttributeCondition {
  return {
    and: [
      { not: { path: 'valid_from', op: 'gte', value: now + 1 } },
      { not: { path: 'valid_until', op: 'lte', value: now } },
    ],
  };
}

function addObject(into: Attributes, path: string, object: Readonly<Record<string, unknown>>, depth: number): void {
  for (const [key, value] of Object.entries(object)) {
    if (Object.keys(into).length >= attributeLimits.attributes) return;
    const place = `${path}.${key}`;
    if (isComparable(value)) into[place] = value;
    else if (Array.isArray(value)) into[place] = value.filter(isComparable).slice(0, attributeLimits.values);
    else if (typeof value === 'object' && value !== null && depth < attributeLimits.depth) {
      addObject(into, place, value as Record<string, unknown>, depth + 1);
    }
  }
}

function isComparable(value: unknown): value is string | number | boolean {
  if (typeof value === 'string') return value.length <= attributeLimits.valueLength;
  return typeof value === 'number' || typeof value === 'boolean';
}
