import { concat, either, type PatternNode } from './pattern-tree.ts';

/**
 * A pattern that matches somewhere in a text exactly when the given one does, and needs less to find out: repeats at
 * its end are cut to their smallest count, because a longer match begins with a shorter one. `sk-\w{20,}` becomes
 * `sk-\w{20}`. Where its matches end is another question, for which the pattern stays as it is.
 */
export function trimForFiring(node: PatternNode): PatternNode {
  switch (node.kind) {
    case 'repeat':
      return node.max === node.min ? node : exactly(node, node.min);
    case 'either':
      return either(node.items.map(trimForFiring));
    case 'concat': {
      const last = node.items.at(-1);
      if (last === undefined) return node;
      const trimmed = trimForFiring(last);
      return trimmed.kind === 'empty'
        ? trimForFiring(concat(node.items.slice(0, -1)))
        : concat(node.items.with(-1, trimmed));
    }
    default:
      return node;
  }
}

function exactly(node: Extract<PatternNode, { kind: 'repeat' }>, count: number): PatternNode {
  if (count === 0) return { kind: 'empty' };
  return count === 1 ? node.item : { ...node, min: count, max: count };
}
