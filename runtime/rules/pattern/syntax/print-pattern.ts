import type { RuneSet } from '../../unicode/rune-set.ts';
import { classSource } from './parse-class.ts';
import type { Assertion, PatternNode } from './pattern-tree.ts';

const ASSERTIONS: Readonly<Record<Assertion, string>> = {
  'text-start': '\\A',
  'text-end': '\\z',
  'line-start': '(?m:^)',
  'line-end': '(?m:$)',
  'word-boundary': '\\b',
  'no-word-boundary': '\\B',
};

/** An expression with exactly the meaning of the tree, case folding written out, that npm re2 does not rewrite. */
export function printPattern(node: PatternNode): string {
  switch (node.kind) {
    case 'empty':
      return '(?:)';
    case 'any-byte':
      return '\\C';
    case 'assertion':
      return ASSERTIONS[node.at];
    case 'runes':
      return printSet(node.set);
    case 'concat':
      return node.items.map(printPattern).join('');
    case 'either':
      return `(?:${node.items.map(printPattern).join('|')})`;
    case 'repeat': {
      const max = node.max === Number.POSITIVE_INFINITY ? '' : node.max;
      return `(?:${printPattern(node.item)}){${node.min},${max}}${node.greedy ? '' : '?'}`;
    }
  }
}

function printSet(set: RuneSet): string {
  const [low = 0, high] = set;
  if (set.length !== 2 || low !== high) return classSource(set);
  const character = String.fromCodePoint(low);
  return /^[0-9A-Za-z]$/.test(character) ? character : `\\x{${low.toString(16)}}`;
}
