import type { PatternNode } from '../pattern/syntax/pattern-tree.ts';
import { MAX_RUNE, type RuneSet, runeSet } from '../unicode/rune-set.ts';
import { asSpace, type FoldTable, foldTable, tableEnd } from './fold-table.ts';
import type { FoldView } from './fold-text.ts';

/**
 * The pattern that is searched in folded texts: each character class also contains the folded form of its members. A
 * class that extends to the end of Unicode is a negated class and stays unchanged, because its folded members would add
 * characters that it excludes. Members that fold to several characters or to none add nothing.
 */
export function foldPattern(node: PatternNode, view: FoldView): PatternNode {
  const table = foldTable(view.kinds);
  const folded = (part: PatternNode): PatternNode => {
    switch (part.kind) {
      case 'runes':
        return { kind: 'runes', set: foldSetOf(part.set, table) };
      case 'concat':
      case 'either':
        return { ...part, items: part.items.map(folded) };
      case 'repeat':
        return { ...part, item: folded(part.item) };
      default:
        return part;
    }
  };
  return folded(node);
}

const blank = 0x20;

function foldSetOf(set: RuneSet, { entries }: FoldTable): RuneSet {
  if (set.at(-1) === MAX_RUNE) return set;
  const pairs = [...set];
  for (let at = 0; at < set.length; at += 2) {
    const end = Math.min(set[at + 1] ?? 0, tableEnd - 1);
    for (let rune = set[at] ?? 0; rune <= end; rune += 1) {
      const entry = entries[rune] ?? rune;
      if (entry === asSpace) pairs.push(blank, blank);
      else if (entry >= 0 && entry !== rune) pairs.push(entry, entry);
    }
  }
  return runeSet(pairs);
}
