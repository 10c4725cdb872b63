import type { Tree } from '../boundaries/tree.ts';

/** A place where a test cites the id of a row that it proves. */
type Citation = { readonly id: string; readonly path: string; readonly line: number };

/** A name of a URN has the same form. */
const requirementId = /^(?!urn:)[a-z][a-z0-9]*(-[a-z0-9]+)*(:[a-z0-9]+(-[a-z0-9]+)*){2}$/;

/**
 * The ids that the tests of a tree cite: every string literal with the form of an id in a file that calls `verifies`.
 * Ids in comments and in files without `verifies` do not count.
 */
export function citationsOf(tree: Tree): readonly Citation[] {
  const found: Citation[] = [];
  for (const source of tree.sources.values()) {
    if (!source.isTest || !/\bverifies\s*\(/.test(source.code)) continue;
    for (const { value, line } of source.strings) {
      if (requirementId.test(value)) found.push({ id: value, path: source.path, line });
    }
  }
  return found;
}
