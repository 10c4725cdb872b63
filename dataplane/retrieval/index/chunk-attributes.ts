import type { IndexEntry } from '#search/ports';

/** Bounds of what conditions can compare; values beyond them stay in the metadata and are not found by a condition. */
export const attributeLimits = {
  /** Attributes of a document. */
  attributes: 128,
  /** Values of a list, and code units of a string. */
  values: 128,
  valueLength: 1_024,
  /** Nested objects. */
  depth: 5,
} as const;

type Attributes = Record<string, IndexEntry['attributes'][string]>;

/** The attributes that filters compare: `doc_id`, and the metadata of a document by paths such as `metadata.source`. */
export function chunkAttributes(docId: string, metadata: Readonly<Record<string, unknown>>): IndexEntry['attributes'] {
  const attributes: Attributes = { doc_id: docId };
  addObject(attributes, 'metadata', metadata, 1);
  return attributes;
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
