/** What has an ETag: policies and models have separate namespaces (document 3, section 4.A, rule 1). */
export type Tagged = {
  readonly type: 'policy' | 'model';
  readonly id: string;
  readonly uid: string;
  readonly generation: number;
};

/** The strong entity tag of a resource: it moves with what is desired and not with what is observed. */
export function etagOf({ type, id, uid, generation }: Tagged): string {
  return `"${type}.${id}.${uid}.${generation}"`;
}

export type IfMatch =
  | { readonly kind: 'missing' }
  | { readonly kind: 'invalid' }
  /** Something that never is the one strong tag of a resource: `*`, a weak tag, a list. */
  | { readonly kind: 'never' }
  | { readonly kind: 'tag'; readonly tag: string };

/** entity-tag of RFC 9110, section 8.8.3. */
const opaque = '"[\\x21\\x23-\\x7e\\x80-\\xff]*"';
const strong = new RegExp(`^${opaque}$`);
const list = new RegExp(`^(?:W/)?${opaque}(?:[ \\t]*,[ \\t]*(?:W/)?${opaque})*$`);

/**
 * Reads the If-Match headers of a request: exactly one strong tag counts; what is no entity tag at all is invalid
 * (readings of document 3, 19).
 */
export function readIfMatch(values: readonly string[]): IfMatch {
  const [first, ...more] = values.map((value) => value.trim());
  if (first === undefined) return { kind: 'missing' };
  if (![first, ...more].every((value) => value === '*' || list.test(value))) return { kind: 'invalid' };
  return more.length === 0 && strong.test(first) ? { kind: 'tag', tag: first } : { kind: 'never' };
}
