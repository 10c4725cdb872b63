/** The parsed If-Match of a request; only a header with exactly one strong tag can match. */
type IfMatch =
  | { readonly kind: 'missing' }
  | { readonly kind: 'invalid' }
  /** Valid, but never equal to the strong tag of a resource: `*`, a weak tag, a list. */
  | { readonly kind: 'never' }
  | { readonly kind: 'tag'; readonly tag: string };

/** entity-tag (RFC 9110, 8.8.3). */
const opaque = '"[\\x21\\x23-\\x7e\\x80-\\xff]*"';
const strong = new RegExp(`^${opaque}$`);
const list = new RegExp(`^(?:W/)?${opaque}(?:[ \\t]*,[ \\t]*(?:W/)?${opaque})*$`);

/** Reads the values of all If-Match headers of a request. */
export function readIfMatch(values: readonly string[]): IfMatch {
  const [first, ...more] = values.map((value) => value.trim());
  if (first === undefined) return { kind: 'missing' };
  if (![first, ...more].every((value) => value === '*' || list.test(value))) return { kind: 'invalid' };
  return more.length === 0 && strong.test(first) ? { kind: 'tag', tag: first } : { kind: 'never' };
}
