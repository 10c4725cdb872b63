import { shapeOf } from './pattern-shape.ts';
import type { PatternNode } from './pattern-tree.ts';
import { trimEnds } from './trim-for-firing.ts';

/**
 * The bytes of UTF-8 that must be seen to decide a minimal match: an upper bound on the length of a match that contains
 * no shorter match, and one byte more if an assertion at its end reads beyond it. Every text that the pattern matches
 * contains a match of at most this length; without such a limit, a stream cannot be judged in windows. Infinity where a
 * repeat inside the pattern has no upper bound.
 *
 * A repeat at the start or end counts with its minimum, because a match with fewer repetitions there is still a match,
 * unless an assertion precedes or follows it (`\b\w+@` can only begin where a word begins). A repeat inside of the
 * pattern counts with its maximum, and alternatives count with the largest of them.
 */
export function decidingBytes(node: PatternNode): number {
  const trimmed = trimEnds(node);
  return shapeOf(trimmed).maxBytes + (endsWithAssertion(trimmed) ? 1 : 0);
}

/** Like decidingBytes, but counted in characters; for a pattern without `\\C`. */
export function decidingCharacters(node: PatternNode): number {
  const trimmed = trimEnds(node);
  return shapeOf(trimmed).maxCharacters + (endsWithAssertion(trimmed) ? 1 : 0);
}

function endsWithAssertion(node: PatternNode): boolean {
  switch (node.kind) {
    case 'assertion':
      return true;
    case 'either':
      return node.items.some(endsWithAssertion);
    case 'repeat':
      return endsWithAssertion(node.item);
    case 'concat': {
      const last = node.items.findLastIndex((item) => !shapeOf(item).canMatchEmpty);
      return node.items.slice(Math.max(0, last)).some(endsWithAssertion);
    }
    default:
      return false;
  }
}
