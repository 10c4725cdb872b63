/**
 * The form in which JSON readers that ignore letter case compare keys: simple folding, U+017F and U+212A included.
 * Folding more than some reader does only refuses more.
 */
export function foldKey(key: string): string {
  return key.toUpperCase().toLowerCase();
}

/**
 * Whether a key equals one of the `known` keys only after case folding. Some programs would read such a key as the
 * known key and others would not, so that its value could bypass a check.
 */
export function isDisguised(key: string, known: ReadonlySet<string>): boolean {
  return !known.has(key) && known.has(foldKey(key));
}
