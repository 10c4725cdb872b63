import { concat, either, type PatternNode } from './pattern-tree.ts';

/**
 * A pattern that matches somewhere in a text exactly when the given pattern does, but is cheaper to search: repeats at
 * its start and end are reduced to their smallest count, because a longer match contains a shorter one. `sk-\w{20,}`
 * becomes `sk-\w{20}`, and `[a-z]{1,64}@` becomes `[a-z]@`. An assertion ends the reduction: the word of `\b\w+@` has
 * only one start. The pattern itself is still needed to locate its matches.
 *
 * Repeats of repeats at the start are kept: if `(.{1,100}){1,9}Z` is too slow for a mask rule, it is also refused in a
 * deny rule, so that the problem is not found only when the action of the rule is changed.
 */
export function trimForFiring(node: PatternNode): PatternNode {
  return trimAt(trimAt(node, -1, false), 0, true);
}

/** Trims even repeats of repeats, on both sides: every match of the pattern contains a match of the result. */
export function trimEnds(node: PatternNode): PatternNode {
  return trimAt(trimAt(node, -1, false), 0, false);
}

/** Trims the first (0) or the last (-1) part of a sequence. */
function trimAt(node: PatternNode, place: 0 | -1, keepNested: boolean): PatternNode {
  switch (node.kind) {
    case 'repeat':
      if (keepNested && hasRepeat(node.item)) return node;
      if (node.min === 0) return { kind: 'empty' };
      if (node.min === 1) return trimAt(node.item, place, keepNested);
      return node.max === node.min ? node : { ...node, max: node.min };
    case 'either':
      return either(node.items.map((item) => trimAt(item, place, keepNested)));
    case 'concat': {
      const item = node.items.at(place);
      if (item === undefined) return node;
      const trimmed = trimAt(item, place, keepNested);
      if (trimmed.kind !== 'empty') return concat(node.items.with(place, trimmed));
      return trimAt(concat(place === 0 ? node.items.slice(1) : node.items.slice(0, -1)), place, keepNested);
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
