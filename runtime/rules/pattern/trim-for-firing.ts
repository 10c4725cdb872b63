import { concat, either, type PatternNode } from './pattern-tree.ts';

/**
 * A pattern that matches somewhere in a text exactly when the given one does, and needs less to find out: repeats at
 * its begin and end are cut to their smallest count, because a longer match has a shorter one in it. `sk-\w{20,}`
 * becomes `sk-\w{20}`, and `[a-z]{1,64}@` becomes `[a-z]@`. Where its matches are is another question, for which the
 * pattern stays as it is.
 *
 * Repeats of repeats at the begin stay: where `(.{1,100}){1,9}Z` is too slow to mask with, it is refused as a denial
 * too, and not found out when the action of the rule is changed.
 */
export function trimForFiring(node: PatternNode): PatternNode {
  return trimAt(trimAt(node, -1), 0);
}

/** Trims the first (0) or the last (-1) part of a sequence. */
function trimAt(node: PatternNode, place: 0 | -1): PatternNode {
  switch (node.kind) {
    case 'repeat':
      if (place === 0 && hasRepeat(node.item)) return node;
      if (node.min === 0) return { kind: 'empty' };
      if (node.min === 1) return trimAt(node.item, place);
      return node.max === node.min ? node : { ...node, max: node.min };
    case 'either':
      return either(node.items.map((item) => trimAt(item, place)));
    case 'concat': {
      const item = node.items.at(place);
      if (item === undefined) return node;
      const trimmed = trimAt(item, place);
      if (trimmed.kind !== 'empty') return concat(node.items.with(place, trimmed));
      return trimAt(concat(place === 0 ? node.items.slice(1) : node.items.slice(0, -1)), place);
    }
    default:
      return node;
  }
}

function hasRepeat(node: PatternNode): boolean {
  switch (node.kind) {
    case 'repeat':
      return true;
    case 'either':
    case 'concat':
      return node.items.some(hasRepeat);
    default:
      return false;
  }
}
