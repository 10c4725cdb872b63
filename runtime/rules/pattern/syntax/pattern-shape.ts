import { type RuneSet, utf8Length } from '../../unicode/rune-set.ts';
import type { PatternNode } from './pattern-tree.ts';

/** Properties of every match of a pattern. Lengths are bytes of UTF-8, with case folding considered. */
export type PatternShape = {
  readonly minBytes: number;
  /** Length of the longest match in bytes; Infinity if there is no limit. */
  readonly maxBytes: number;
  /** The shortest match in characters; a `\C` counts as none, because it can be a part of one. */
  readonly minCharacters: number;
  /** The longest match in characters, Infinity when unbounded; a `\C` counts as one. */
  readonly maxCharacters: number;
  /** Whether some match may be empty. */
  readonly canMatchEmpty: boolean;
  /**
   * Whether the pattern tests for the start or end of the text or of a line (`^`, `$`, `\A`, `\z`): then a part of the
   * text has a different result.
   */
  readonly anchored: boolean;
  /** Whether the pattern uses `\C`, so that a match may begin or end inside a character. */
  readonly usesAnyByte: boolean;
};

const EMPTY: PatternShape = {
  minBytes: 0,
  maxBytes: 0,
  minCharacters: 0,
  maxCharacters: 0,
  canMatchEmpty: true,
  anchored: false,
  usesAnyByte: false,
};
const CHARACTER: PatternShape = {
  ...EMPTY,
  minBytes: 1,
  maxBytes: 1,
  minCharacters: 1,
  maxCharacters: 1,
  canMatchEmpty: false,
};

/**
 * The shape of a pattern. Bounds are exact for the texts that the tree can match, assertions taken as always true:
 * `minBytes` is never above and `maxBytes` never below the length of a real match.
 */
export function shapeOf(node: PatternNode): PatternShape {
  switch (node.kind) {
    case 'empty':
      return EMPTY;
    case 'any-byte':
      return { ...CHARACTER, minCharacters: 0, usesAnyByte: true };
    case 'assertion':
      return { ...EMPTY, anchored: !node.at.endsWith('word-boundary') };
    case 'runes':
      return shapeOfSet(node.set);
    case 'concat':
      return node.items.map(shapeOf).reduce(joined);
    case 'either':
      return node.items.map(shapeOf).reduce(eitherOf);
    case 'repeat':
      return repeated(shapeOf(node.item), node.min, node.max);
  }
}

function shapeOfSet(set: RuneSet): PatternShape {
  const minBytes = utf8Length(set[0] ?? 0);
  const maxBytes = utf8Length(set.at(-1) ?? 0);
  return { ...CHARACTER, minBytes, maxBytes };
}

function joined(a: PatternShape, b: PatternShape): PatternShape {
  return {
    minBytes: a.minBytes + b.minBytes,
    maxBytes: a.maxBytes + b.maxBytes,
    minCharacters: a.minCharacters + b.minCharacters,
    maxCharacters: a.maxCharacters + b.maxCharacters,
    canMatchEmpty: a.canMatchEmpty && b.canMatchEmpty,
    anchored: a.anchored || b.anchored,
    usesAnyByte: a.usesAnyByte || b.usesAnyByte,
  };
}

function eitherOf(a: PatternShape, b: PatternShape): PatternShape {
  return {
    minBytes: Math.min(a.minBytes, b.minBytes),
    maxBytes: Math.max(a.maxBytes, b.maxBytes),
    minCharacters: Math.min(a.minCharacters, b.minCharacters),
    maxCharacters: Math.max(a.maxCharacters, b.maxCharacters),
    canMatchEmpty: a.canMatchEmpty || b.canMatchEmpty,
    anchored: a.anchored || b.anchored,
    usesAnyByte: a.usesAnyByte || b.usesAnyByte,
  };
}

function repeated(item: PatternShape, min: number, max: number): PatternShape {
  if (max === 0) return EMPTY;
  return {
    ...item,
    minBytes: item.minBytes * min,
    minCharacters: item.minCharacters * min,
    maxBytes: item.maxBytes === 0 ? 0 : item.maxBytes * max,
    maxCharacters: item.maxCharacters === 0 ? 0 : item.maxCharacters * max,
    canMatchEmpty: item.canMatchEmpty || min === 0,
  };
}
