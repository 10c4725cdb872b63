/** Annotation of a route whose alias is released: the key of the alias that it left. */
export const leftAliasAnnotation = 'portcullis.dev/left-alias';

const releasedMark = '~';

/** The alias of a route that released its own for other bindings. No binding can request it: it begins with a tilde. */
export function releasedAlias(bindingId: string): string {
  return `${releasedMark}${bindingId}`;
}

export function isReleased(alias: string): boolean {
  return alias.startsWith(releasedMark);
}
